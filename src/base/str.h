/* str: a borrowed view of bytes.
 *
 * A str owns nothing and is not NUL-terminated; it is valid as long as the memory it points to.
 * Pass it by value. The empty view may have data == NULL.
 */
#ifndef PATRA_BASE_STR_H
#define PATRA_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct str {
    const char *data;
    size_t len;
};

#define STR(literal) ((struct str){ "" literal "", sizeof(literal) - 1 })
/* The same for static initialisers, where a compound literal is not a constant. */
#define STR_INIT(literal)                  \
    {                                      \
        "" literal "", sizeof(literal) - 1 \
    }
/* For "%.*s". */
#define STR_ARG(s) (int)(s).len, (s).len > 0 ? (s).data : ""

struct str str_of(const char *nul_terminated);              /* NULL gives the empty view */
struct str str_slice(struct str s, size_t from, size_t to); /* both clamped to the view */

bool str_eq(struct str a, struct str b);
bool str_eq_nocase(struct str a, struct str b); /* ASCII letters only */
int str_cmp(struct str a, struct str b);        /* bytewise; a prefix sorts first */
bool str_starts(struct str s, struct str prefix);
bool str_ends(struct str s, struct str suffix);
struct str str_trim(struct str s); /* ASCII white space at both ends */

/* Position of the first occurrence, or s.len if there is none. */
size_t str_find(struct str s, struct str needle);
size_t str_find_char(struct str s, char c);

/* Splits `rest` at the first `separator`: returns the part before it and leaves the part after it
 * in `rest`. Without a separator everything is returned and `rest` becomes empty. */
struct str str_cut(struct str *rest, char separator);

/* The whole string as a decimal number; false for anything else, overflow included. */
bool str_to_i64(struct str s, int64_t *value);

/* True if every byte belongs to well-formed UTF-8 (no surrogates, no overlong forms). */
bool str_is_utf8(struct str s);

#endif
