/* Layers of a text, and the search for a secret in them. What one layer undoes is in
 * redact_undo.c. */
#include "data/redact.h"

#include <stdlib.h>
#include <string.h>

#include "data/redact_layer.h"

/* ---- finding ---- */

static unsigned char fold(unsigned char c)
{
    if (c == '+')
        return ' ';
    return c >= 'A' && c <= 'Z' ? (unsigned char)(c + ('a' - 'A')) : c;
}

static bool is_end(const struct redact_layer *layer, size_t at)
{
    const struct str mark = STR("... ("); /* of quote_of(), where it cuts */

    if (at == layer->count)
        return true;
    for (size_t i = 0; i < mark.len; i++) {
        if (at + i == layer->count || layer->units[at + i].byte != (unsigned char)mark.data[i])
            return false;
    }
    return true;
}

/* A text may be cut between two bytes, or within an escape. */
static bool is_cut_at(const struct redact_layer *layer, size_t at)
{
    const bool is_escape = at < layer->count && memchr("\\%&=", layer->units[at].byte, 4) != NULL;
    size_t left = 0;

    while (is_escape && left < REDACT_ESCAPE_MAX && !is_end(layer, at + left))
        left++;
    return is_end(layer, at + left);
}

static size_t equal_bytes(const struct redact_layer *layer, size_t at, struct str secret)
{
    size_t count = 0;

    while (count < secret.len && at + count < layer->count &&
           fold(layer->units[at + count].byte) == fold((unsigned char)secret.data[count]))
        count++;
    return count;
}

/* How many bytes of the secret are at this place: all, or none. */
static size_t match_whole(const struct redact_layer *layer, size_t at, struct str secret)
{
    return equal_bytes(layer, at, secret) == secret.len ? secret.len : 0;
}

/* The first few before a cut. The sign that an escape begins with may look like the next byte. */
static size_t match_cut(const struct redact_layer *layer, size_t at, struct str secret)
{
    const size_t count = equal_bytes(layer, at, secret);

    if (count >= REDACT_BYTES_MIN && is_cut_at(layer, at + count))
        return count;
    return count > REDACT_BYTES_MIN && is_cut_at(layer, at + count - 1) ? count - 1 : 0;
}

/* ---- replacing ---- */

struct text {
    char *data;
    size_t len;
};

/* The whole place becomes three stars: it has at least REDACT_BYTES_MIN bytes. */
static void star(struct text *text, size_t from, size_t to)
{
    memcpy(text->data + from, "***", 3);
    memmove(text->data + from + 3, text->data + to, text->len - to);
    text->len -= to - from - 3;
}

struct search {
    struct text *text;
    struct str secret;
    size_t (*match)(const struct redact_layer *layer, size_t at, struct str secret);
    int depth; /* of the layers below the text */
    struct redact_layer layers[REDACT_DEPTH + 1];
};

/* True: something was replaced, and the layers must be made again. */
static bool replace_in(struct search *search, const struct redact_layer *layer)
{
    for (size_t at = 0; at < layer->count; at++) {
        const size_t count = search->match(layer, at, search->secret);

        if (count == 0)
            continue;
        star(search->text, layer->units[at].from, layer->units[at + count - 1].to);
        return true;
    }
    return false;
}

/* ---- layers ---- */

/* Decoding a decoded text is worth a try only where escapes were within it. */
static bool is_worth(enum redact_way way, bool is_decoded)
{
    return !is_decoded || redact_is_escape(way);
}

static bool replace_one(struct search *search, int depth, bool is_decoded)
{
    const struct redact_layer *layer = &search->layers[depth];

    if (replace_in(search, layer))
        return true;
    for (int way = 0; depth < search->depth && way < REDACT_WAYS; way++) {
        if (is_worth((enum redact_way)way, is_decoded) &&
            redact_undo(layer, (enum redact_way)way, &search->layers[depth + 1]) &&
            replace_one(search, depth + 1, is_decoded || !redact_is_escape((enum redact_way)way)))
            return true;
    }
    return false;
}

static void read_text(const struct text *text, struct redact_layer *layer)
{
    for (size_t i = 0; i < text->len; i++)
        layer->units[i] = (struct redact_unit){ (unsigned char)text->data[i], i, i + 1 };
    layer->count = text->len;
}

static void replace_all(struct search *search)
{
    do
        read_text(search->text, &search->layers[0]);
    while (replace_one(search, 0, false));
}

/* may_be_cut: the end of the text may be in the middle of the secret. */
static size_t redact(char *data, size_t len, struct str secret, int depth, bool may_be_cut)
{
    const size_t layers = (size_t)depth + 1;
    struct text text = { data, len };
    struct search search = { .text = &text, .secret = secret, .depth = depth };
    struct redact_unit *units;

    if (secret.len < REDACT_BYTES_MIN || len < REDACT_BYTES_MIN)
        return len;
    units = calloc(len * layers, sizeof(*units));
    if (units == NULL) {
        memcpy(data, "***", 3);
        return 3;
    }
    for (size_t i = 0; i < layers; i++)
        search.layers[i].units = units + i * len;
    search.match = match_whole; /* first: what follows a piece of it may look like a cut */
    replace_all(&search);
    search.match = match_cut;
    if (may_be_cut)
        replace_all(&search);
    explicit_bzero(units, len * layers * sizeof(*units));
    free(units);
    return text.len;
}

size_t redact_text(char *data, size_t len, struct str secret)
{
    return redact(data, len, secret, REDACT_DEPTH, true);
}

/* Windows overlap by more than a secret takes, however it is written. */
size_t redact_body(char *data, size_t len, struct str secret)
{
    const size_t overlap = secret.len * REDACT_GROWTH_MAX;
    const size_t window = overlap + REDACT_WINDOW_BYTES;

    for (size_t at = 0; at < len;) {
        const bool is_last = len - at <= window;
        const size_t before = is_last ? len - at : window;
        const size_t after = redact(data + at, before, secret, 1, is_last);

        memmove(data + at + after, data + at + before, len - at - before);
        len -= before - after;
        if (is_last)
            break;
        at += after > overlap ? after - overlap : after;
    }
    return len;
}

void redact_error(struct error *err, struct str secret)
{
    err->text[redact_text(err->text, strlen(err->text), secret)] = '\0';
}
