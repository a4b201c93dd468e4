/* redact_layer: a text as bytes that remember where they come from. Internal to redact.h. */
#ifndef PATRA_DATA_REDACT_LAYER_H
#define PATRA_DATA_REDACT_LAYER_H

#include <stdbool.h>
#include <stddef.h>

struct redact_unit {
    unsigned char byte;
    size_t from, to; /* in the text itself, whatever layer this is */
};

struct redact_layer {
    struct redact_unit *units;
    size_t count;
};

enum redact_way {
    REDACT_BACKSLASH, /* JSON, C */
    REDACT_PERCENT,   /* URLs */
    REDACT_HTML,      /* and XML */
    REDACT_EQUALS,    /* quoted-printable */
    REDACT_BASE64,    /* and 3 more, for words that begin with 1 to 3 characters of another word */
    REDACT_BASE64_1,
    REDACT_BASE64_2,
    REDACT_BASE64_3,
    REDACT_HEX,
    REDACT_HEX_1,
    REDACT_WAYS,
};

/* The longest escape: &#x0010FFFF; */
enum { REDACT_ESCAPE_MAX = 12 };

/* False for ways that replace whole words. */
bool redact_is_escape(enum redact_way way);

/* Makes the next layer, which has no more bytes than this one. False: it would be the same. */
bool redact_undo(const struct redact_layer *layer, enum redact_way way, struct redact_layer *next);

#endif
