/* Content-Type, and a look at the first bytes of a body. */
#include "data/media_type.h"

#include "base/quote.h"
#include "data/http_message.h"

/* How many bytes of a body are examined: prologues and comments are shorter. */
enum { LOOK_BYTES = 2048 };

/* ---- the header ---- */

static struct str unquote(struct str value)
{
    value = str_trim(value);
    if (value.len >= 2 && value.data[0] == '"' && value.data[value.len - 1] == '"')
        return str_slice(value, 1, value.len - 1);
    return value;
}

bool media_type_parse(struct str value, struct media_type *media)
{
    struct str rest = value;
    struct str name = str_trim(str_cut(&rest, ';'));
    const struct str type = str_cut(&name, '/');

    *media = (struct media_type){ 0 };
    if (!http_is_token(type) || !http_is_token(name))
        return false;
    media->type = type;
    media->subtype = name;
    while (rest.len > 0) {
        struct str parameter = str_cut(&rest, ';');

        if (str_eq_nocase(str_trim(str_cut(&parameter, '=')), STR("charset")))
            media->charset = unquote(parameter);
    }
    return true;
}

static bool subtype_is(const struct media_type *media, struct str name, struct str suffix)
{
    const size_t from = media->subtype.len > suffix.len ? media->subtype.len - suffix.len : 0;

    return str_eq_nocase(media->subtype, name) ||
           str_eq_nocase(str_slice(media->subtype, from, media->subtype.len), suffix);
}

enum body_kind media_type_kind(const struct media_type *media)
{
    if (media->subtype.len == 0)
        return BODY_BINARY;
    if (subtype_is(media, STR("html"), STR("xhtml+xml")))
        return BODY_HTML;
    if (subtype_is(media, STR("json"), STR("+json")))
        return BODY_JSON;
    if (subtype_is(media, STR("xml"), STR("+xml")))
        return BODY_XML;
    return str_eq_nocase(media->type, STR("text")) ? BODY_TEXT : BODY_BINARY;
}

/* ---- the body ---- */

static struct str without_mark(struct str body)
{
    return str_starts(body, STR("\xEF\xBB\xBF")) ? str_slice(body, 3, body.len) : body;
}

static struct str skip_space(struct str text)
{
    size_t i = 0;

    while (i < text.len && (text.data[i] == ' ' || (text.data[i] >= '\t' && text.data[i] <= '\r')))
        i++;
    return str_slice(text, i, text.len);
}

static bool starts_nocase(struct str text, struct str prefix)
{
    return text.len >= prefix.len && str_eq_nocase(str_slice(text, 0, prefix.len), prefix);
}

/* What follows a declaration or comment at the start of the text. */
static struct str after(struct str text, struct str end)
{
    const size_t at = str_find(text, end);

    return skip_space(str_slice(text, at + end.len, text.len));
}

/* The text starts with '<'. Skips declarations and comments up to the document type or the first
 * element; when neither is found it is taken for XML. */
static enum body_kind markup_kind(struct str text)
{
    static const struct str pages[] = { STR_INIT("<!doctype html"), STR_INIT("<html"),
                                        STR_INIT("<head"), STR_INIT("<body") };

    for (;;) {
        if (str_starts(text, STR("<?")))
            text = after(text, STR("?>"));
        else if (str_starts(text, STR("<!--")))
            text = after(text, STR("-->"));
        else
            break;
    }
    for (size_t i = 0; i < ARRAY_LEN(pages); i++) {
        const size_t len = pages[i].len;

        if (starts_nocase(text, pages[i]) &&
            (text.len == len || text.data[len] == '>' || text.data[len] == ' ' ||
             text.data[len] == '\n' || text.data[len] == '\r' || text.data[len] == '\t'))
            return BODY_HTML;
    }
    return BODY_XML;
}

static bool is_text(struct str look)
{
    for (size_t i = 0; i < look.len; i++) {
        const unsigned char c = (unsigned char)look.data[i];

        if (c < ' ' && !(c >= '\t' && c <= '\r')) /* DEL is valid in JSON and text */
            return false;
    }
    return true;
}

enum body_kind body_kind(struct str body)
{
    const struct str text = skip_space(without_mark(body));
    const struct str look = str_slice(text, 0, LOOK_BYTES);

    if (look.len == 0)
        return BODY_EMPTY;
    if (!is_text(look))
        return BODY_BINARY;
    if (look.data[0] == '{' || look.data[0] == '[')
        return BODY_JSON;
    return look.data[0] == '<' ? markup_kind(look) : BODY_TEXT;
}

static const char *kind_name(enum body_kind kind)
{
    static const char *const names[] = {
        [BODY_EMPTY] = "empty",       [BODY_JSON] = "JSON",       [BODY_XML] = "XML",
        [BODY_HTML] = "an HTML page", [BODY_TEXT] = "plain text", [BODY_BINARY] = "binary",
    };

    return names[kind];
}

/* "UTF-16" or "UTF-32" where the first bytes show it: a mark, or zero bytes between ASCII. */
static const char *wide_charset(struct str body)
{
    const unsigned char *b = (const unsigned char *)body.data;

    if (body.len >= 4 && ((b[0] == 0 && b[1] == 0) || (b[2] == 0 && b[3] == 0)))
        return "UTF-32";
    if (body.len >= 2 && ((b[0] == 0xFE && b[1] == 0xFF) || (b[0] == 0xFF && b[1] == 0xFE)))
        return "UTF-16";
    if (body.len >= 2 && (b[0] == 0) != (b[1] == 0))
        return "UTF-16";
    return NULL;
}

bool body_check(struct str content_type, struct str body, enum body_kind wanted, struct error *err)
{
    const enum body_kind kind = body_kind(body);
    const char *wide = wide_charset(body);

    if (kind == wanted || (wanted == BODY_XML && wide != NULL))
        return true; /* XML declares its encoding */
    if (kind == BODY_EMPTY)
        return error_set(err, ERROR_TRANSIENT, "body.empty", "the body is empty, %s was expected",
                         kind_name(wanted));
    if (wide != NULL)
        return error_set(err, ERROR_TRANSIENT, "body.charset", "the body is %s, not UTF-8", wide);
    return error_set(err, ERROR_TRANSIENT, kind == BODY_HTML ? "body.html" : "body.kind",
                     "the body is %s, %s was expected (declared as %s, starts with %s)",
                     kind_name(kind), kind_name(wanted), QUOTE(content_type),
                     QUOTE(str_slice(body, 0, 40)));
}

bool body_charset_check(struct str content_type, struct str body, struct error *err)
{
    struct media_type media;

    (void)media_type_parse(content_type, &media); /* an invalid one declares no charset */
    if (media.charset.len == 0 || str_eq_nocase(media.charset, STR("utf-8")) ||
        str_eq_nocase(media.charset, STR("utf8")) || str_eq_nocase(media.charset, STR("us-ascii")))
        return str_is_utf8(body) ||
               error_set(err, ERROR_TRANSIENT, "body.charset",
                         "the body is not %s, as declared or expected",
                         media.charset.len > 0 ? QUOTE(media.charset) : "UTF-8");
    return true;
}
