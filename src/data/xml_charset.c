/* From bytes in any charset to UTF-8, before libxml2 reads them: iconv rejects bytes that are not
 * in the charset, and the parser's positions are positions in one known text. */
#include "data/xml_tree.h"

#include <errno.h>
#include <iconv.h>
#include <string.h>

#include "base/buf.h"
#include "base/quote.h"
#include "data/utf8.h"

enum { CHARSET_NAME_MAX = 40, PIECE_BYTES = 16 * 1024 };

static bool fault(struct error *err, struct str charset, size_t offset)
{
    return error_set(err, ERROR_REQUEST, "xml.charset",
                     "the document is not in its declared charset %s: offset %zu", QUOTE(charset),
                     offset);
}

static bool check_utf8(struct str text, struct error *err)
{
    const char *at = text.data, *end = text.data + text.len;

    while (at < end) {
        const size_t len = utf8_sequence(at, end);

        if (len == 0 || *at == '\0')
            return fault(err, STR("UTF-8"), (size_t)(at - text.data));
        at += len;
    }
    return true;
}

/* Letters, digits and a few marks: a charset's name, without what iconv would take for an option.
 */
static bool is_charset_name(struct str name)
{
    for (size_t i = 0; i < name.len; i++) {
        const char c = name.data[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              (c != '\0' && strchr("-_.:", c) != NULL)))
            return false;
    }
    return name.len > 0 && name.len < CHARSET_NAME_MAX;
}

static bool convert_all(iconv_t converter, struct str charset, struct str bytes, struct buf *out,
                        struct error *err)
{
    size_t left = bytes.len;
    char piece[PIECE_BYTES];
    char *from;

    memcpy(&from, &bytes.data, sizeof(from)); /* iconv only reads, but its parameter is not const */
    while (left > 0) {
        char *to = piece;
        size_t room = sizeof(piece);
        const size_t done = iconv(converter, &from, &left, &to, &room);

        if (done == (size_t)-1 && errno != E2BIG)
            return fault(err, charset, bytes.len - left);
        buf_add(out, (struct str){ piece, sizeof(piece) - room });
        if (out->failed)
            break;
    }
    return buf_ok(out, err);
}

static bool unknown(struct error *err, struct str charset)
{
    return error_set(err, ERROR_REQUEST, "xml.charset", "unknown charset %s", QUOTE(charset));
}

static bool convert(struct arena *arena, const struct xml_source *source, struct str charset,
                    struct str *text, struct error *err)
{
    char name[CHARSET_NAME_MAX];
    iconv_t converter;
    struct buf out;
    bool converted;

    if (!is_charset_name(charset))
        return unknown(err, charset);
    memcpy(name, charset.data, charset.len);
    name[charset.len] = '\0';
    converter = iconv_open("UTF-8", name);
    if ((intptr_t)converter == -1)
        return unknown(err, charset);
    buf_init(&out, arena, source->bytes_max);
    converted = convert_all(converter, charset, source->bytes, &out, err);
    (void)iconv_close(converter);
    *text = buf_str(&out);
    /* A leading byte order mark is converted like any character. */
    if (str_starts(*text, STR("\xEF\xBB\xBF")))
        *text = str_slice(*text, 3, text->len);
    return converted && check_utf8(*text, err);
}

/* The encoding named by an XML declaration in an ASCII-like text; empty when there is none. */
static struct str declared_charset(struct str bytes)
{
    struct str declaration, value;
    size_t at;
    char quote;

    if (!str_starts(bytes, STR("<?xml")))
        return STR("");
    declaration = str_slice(bytes, 0, str_find(bytes, STR("?>")));
    at = str_find(declaration, STR("encoding"));
    value = str_trim(str_slice(declaration, at + sizeof("encoding") - 1, declaration.len));
    if (!str_starts(value, STR("=")))
        return STR("");
    value = str_trim(str_slice(value, 1, value.len));
    if (value.len == 0 || (value.data[0] != '"' && value.data[0] != '\''))
        return STR("");
    quote = value.data[0];
    value = str_slice(value, 1, value.len);
    return str_slice(value, 0, str_find_char(value, quote));
}

static struct str marked_charset(struct str bytes)
{
    static const struct {
        struct str mark;
        struct str charset;
    } marks[] = {
        { STR_INIT("\xFF\xFE\0\0"), STR_INIT("UTF-32LE") },
        { STR_INIT("\0\0\xFE\xFF"), STR_INIT("UTF-32BE") },
        { STR_INIT("\xFF\xFE"), STR_INIT("UTF-16LE") },
        { STR_INIT("\xFE\xFF"), STR_INIT("UTF-16BE") },
        { STR_INIT("\xEF\xBB\xBF"), STR_INIT("UTF-8") },
        /* No mark, but a first < of two bytes. */
        { STR_INIT("<\0"), STR_INIT("UTF-16LE") },
        { STR_INIT("\0<"), STR_INIT("UTF-16BE") },
    };

    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        if (str_starts(bytes, marks[i].mark))
            return marks[i].charset;
    }
    return STR("");
}

bool xml_charset_convert(struct arena *arena, const struct xml_source *source, struct str *text,
                         struct error *err)
{
    struct str charset = marked_charset(source->bytes);

    if (charset.len == 0)
        charset = source->charset.len > 0 ? source->charset : declared_charset(source->bytes);
    if (charset.len > 0 && !str_eq_nocase(charset, STR("UTF-8")) &&
        !str_eq_nocase(charset, STR("UTF8")))
        return convert(arena, source, charset, text, err);
    *text = source->bytes;
    if (str_starts(*text, STR("\xEF\xBB\xBF")))
        *text = str_slice(*text, 3, text->len);
    return check_utf8(*text, err);
}
