/* Undoes one way of writing bytes: escapes one by one, words as a whole. */
#include "data/redact_layer.h"

#include <stdint.h>
#include <string.h>

#include "base/attr.h"
#include "base/hex.h"
#include "base/str.h"
#include "data/utf8.h"

/* ---- reading a layer ---- */

/* '\0' behind the end: no escape has it. */
static unsigned char at(const struct redact_layer *layer, size_t i)
{
    return i < layer->count ? layer->units[i].byte : 0;
}

/* False: not so many hexadecimal digits. */
static bool read_hex(const struct redact_layer *layer, size_t i, int digits, uint32_t *point)
{
    *point = 0;
    for (int k = 0; k < digits; k++) {
        const int value = hex_digit((char)at(layer, i + (size_t)k));

        if (value < 0)
            return false;
        *point = *point << 4 | (uint32_t)value;
    }
    return true;
}

/* ---- writing one ---- */

static void add(struct redact_layer *next, unsigned char byte, size_t from, size_t to)
{
    next->units[next->count++] = (struct redact_unit){ byte, from, to };
}

/* What stands in `len` bytes of the layer is one character. */
static void add_point(const struct redact_layer *layer, size_t i, size_t len, uint32_t point,
                      struct redact_layer *next)
{
    char bytes[UTF8_BYTES_MAX];
    const size_t count = utf8_encode(point, bytes);

    for (size_t k = 0; k < count; k++)
        add(next, (unsigned char)bytes[k], layer->units[i].from, layer->units[i + len - 1].to);
}

/* ---- escapes: the length of the one at i, 0: there is none ---- */

static size_t read_utf16(const struct redact_layer *layer, size_t i, uint32_t *point)
{
    uint32_t low;

    if (!read_hex(layer, i + 2, 4, point))
        return 0;
    if (*point >= 0xD800 && *point < 0xDC00 && at(layer, i + 6) == '\\' &&
        at(layer, i + 7) == 'u' && read_hex(layer, i + 8, 4, &low) && low >= 0xDC00 &&
        low < 0xE000) {
        *point = 0x10000 + ((*point - 0xD800) << 10) + (low - 0xDC00);
        return 12;
    }
    return 6;
}

static size_t read_backslash(const struct redact_layer *layer, size_t i, uint32_t *point)
{
    static const char names[] = "n\nr\rt\tb\bf\f\"\"''\\\\//";
    const unsigned char c = at(layer, i + 1);

    if (at(layer, i) != '\\')
        return 0;
    if (c == 'u')
        return read_utf16(layer, i, point);
    for (size_t k = 0; k < sizeof(names) - 1; k += 2) {
        if ((unsigned char)names[k] == c) {
            *point = (unsigned char)names[k + 1];
            return 2;
        }
    }
    return 0;
}

static const struct {
    struct str name;
    char byte;
} ENTITIES[] = {
    { STR_INIT("amp"), '&' },    { STR_INIT("lt"), '<' },     { STR_INIT("gt"), '>' },
    { STR_INIT("quot"), '"' },   { STR_INIT("apos"), '\'' },  { STR_INIT("excl"), '!' },
    { STR_INIT("num"), '#' },    { STR_INIT("dollar"), '$' }, { STR_INIT("percnt"), '%' },
    { STR_INIT("lpar"), '(' },   { STR_INIT("rpar"), ')' },   { STR_INIT("ast"), '*' },
    { STR_INIT("plus"), '+' },   { STR_INIT("comma"), ',' },  { STR_INIT("period"), '.' },
    { STR_INIT("sol"), '/' },    { STR_INIT("colon"), ':' },  { STR_INIT("semi"), ';' },
    { STR_INIT("equals"), '=' }, { STR_INIT("quest"), '?' },  { STR_INIT("commat"), '@' },
    { STR_INIT("lsqb"), '[' },   { STR_INIT("bsol"), '\\' },  { STR_INIT("rsqb"), ']' },
    { STR_INIT("hat"), '^' },    { STR_INIT("lowbar"), '_' }, { STR_INIT("grave"), '`' },
    { STR_INIT("lcub"), '{' },   { STR_INIT("verbar"), '|' }, { STR_INIT("rcub"), '}' },
};

static size_t read_number(struct str digits, uint32_t *point)
{
    const bool is_hex = digits.len > 1 && (digits.data[0] | 0x20) == 'x';

    *point = 0;
    for (size_t k = is_hex ? 1 : 0; k < digits.len; k++) {
        const int value = hex_digit(digits.data[k]);

        if (value < 0 || (!is_hex && value > 9) || *point > UTF8_POINT_MAX)
            return 0;
        *point = *point * (is_hex ? 16 : 10) + (uint32_t)value;
    }
    return digits.len > 0 && *point <= UTF8_POINT_MAX ? digits.len : 0;
}

static size_t read_reference(const struct redact_layer *layer, size_t i, uint32_t *point)
{
    char name[REDACT_ESCAPE_MAX];
    size_t len = 0;

    if (at(layer, i) != '&')
        return 0;
    while (len < sizeof(name) && at(layer, i + 1 + len) != ';') {
        name[len] = (char)at(layer, i + 1 + len);
        len++;
    }
    if (len == 0 || at(layer, i + 1 + len) != ';')
        return 0;
    if (name[0] == '#')
        return read_number((struct str){ name + 1, len - 1 }, point) > 0 ? len + 2 : 0;
    for (size_t k = 0; k < ARRAY_LEN(ENTITIES); k++) {
        if (str_eq_nocase((struct str){ name, len }, ENTITIES[k].name)) {
            *point = (unsigned char)ENTITIES[k].byte;
            return len + 2;
        }
    }
    return 0;
}

/* One byte as two digits behind a sign: %2F, =2F, \x2f. */
static size_t read_byte(const struct redact_layer *layer, size_t i, const char *sign,
                        unsigned char *byte)
{
    const size_t len = strlen(sign);
    uint32_t value;

    for (size_t k = 0; k < len; k++) {
        if (at(layer, i + k) != (unsigned char)sign[k])
            return 0;
    }
    if (!read_hex(layer, i + len, 2, &value))
        return 0;
    *byte = (unsigned char)value;
    return len + 2;
}

static size_t undo_byte(const struct redact_layer *layer, size_t i, const char *sign,
                        struct redact_layer *next)
{
    unsigned char byte;
    const size_t len = read_byte(layer, i, sign, &byte);

    if (len > 0)
        add(next, byte, layer->units[i].from, layer->units[i + len - 1].to);
    return len;
}

static size_t undo_escape(const struct redact_layer *layer, size_t i, enum redact_way way,
                          struct redact_layer *next)
{
    uint32_t point;
    size_t len;

    if (way == REDACT_PERCENT)
        return undo_byte(layer, i, "%", next);
    if (way == REDACT_EQUALS)
        return undo_byte(layer, i, "=", next);
    if (way == REDACT_BACKSLASH && (len = undo_byte(layer, i, "\\x", next)) > 0)
        return len;
    len = way == REDACT_HTML ? read_reference(layer, i, &point) : read_backslash(layer, i, &point);
    if (len > 0)
        add_point(layer, i, len, point, next);
    return len;
}

/* ---- words ---- */

struct coding {
    int (*value)(char c); /* -1: not a character of a word */
    int bits;
    size_t shift;    /* characters before the word */
    size_t word_min; /* REDACT_BYTES_MIN bytes */
};

static int base64_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

static struct coding coding_of(enum redact_way way)
{
    if (way >= REDACT_HEX)
        return (struct coding){ hex_digit, 4, (size_t)(way - REDACT_HEX), 8 };
    return (struct coding){ base64_of, 6, (size_t)(way - REDACT_BASE64), 6 };
}

static bool is_line_end(unsigned char c)
{
    return c == '\r' || c == '\n';
}

/* Lines of base64 are broken after 76 characters or less. */
static size_t word_len(const struct redact_layer *layer, size_t i, const struct coding *coding)
{
    size_t len = 0;

    while (coding->value((char)at(layer, i + len)) >= 0 ||
           (len > 0 && is_line_end(at(layer, i + len))))
        len++;
    return len;
}

/* The bytes of one word; each is as long as the whole word, so that it goes as a whole. */
static void undo_word(struct redact_layer word, const struct coding *coding,
                      struct redact_layer *next)
{
    const size_t from = word.units[0].from, to = word.units[word.count - 1].to;
    uint32_t bits = 0;
    int have = 0;

    for (size_t i = coding->shift; i < word.count; i++) {
        const int value = coding->value((char)word.units[i].byte);

        if (value < 0)
            continue; /* the end of a line */
        bits = bits << coding->bits | (uint32_t)value;
        have += coding->bits;
        if (have >= 8) {
            have -= 8;
            add(next, (unsigned char)(bits >> have), from, to);
        }
    }
}

/* The word at i, or what is not one. Returns whether something was undone. */
static bool undo_at(const struct redact_layer *layer, size_t *i, const struct coding *coding,
                    struct redact_layer *next)
{
    const size_t len = word_len(layer, *i, coding);
    const struct redact_layer word = { layer->units + *i, len > 0 ? len : 1 };
    const bool is_word = len >= coding->word_min + coding->shift;

    *i += word.count;
    if (is_word) {
        undo_word(word, coding, next);
        return true;
    }
    memcpy(next->units + next->count, word.units, word.count * sizeof(*word.units));
    next->count += word.count;
    return false;
}

static bool undo_words(const struct redact_layer *layer, enum redact_way way,
                       struct redact_layer *next)
{
    const struct coding coding = coding_of(way);
    bool is_changed = false;

    for (size_t i = 0; i < layer->count;)
        is_changed = undo_at(layer, &i, &coding, next) || is_changed;
    return is_changed;
}

/* ---- the whole ---- */

bool redact_is_escape(enum redact_way way)
{
    return way < REDACT_BASE64;
}

static bool undo_escapes(const struct redact_layer *layer, enum redact_way way,
                         struct redact_layer *next)
{
    bool is_changed = false;

    for (size_t i = 0; i < layer->count;) {
        const size_t len = undo_escape(layer, i, way, next);

        is_changed = is_changed || len > 0;
        if (len == 0)
            next->units[next->count++] = layer->units[i];
        i += len > 0 ? len : 1;
    }
    return is_changed;
}

bool redact_undo(const struct redact_layer *layer, enum redact_way way, struct redact_layer *next)
{
    next->count = 0;
    return redact_is_escape(way) ? undo_escapes(layer, way, next) : undo_words(layer, way, next);
}
