/* canon: writes canonical JSON (RFC 8785), value by value.
 *
 * What is hashed, compared or stored for audit must have exactly one form: sorted keys, no white
 * space, one way to escape. The writer adds commas and escapes; the caller writes keys in sorted
 * order (asserted) and closes what it opened.
 *
 *      struct canon canon = canon_begin(&buf);              {
 *      canon_i64(&canon, "batch", 7);                       "batch":7,
 *      canon_str(&canon, "source", source);                 "source":"crossref"
 *      canon_end(&canon);                                   }
 *
 * Inside an array the key is NULL. Numbers are whole and at most CANON_NUMBER_MAX from zero: beyond
 * it a double, the type of a JSON number, cannot represent every integer. The buf remembers a
 * failed append; check it there.
 */
#ifndef PATRA_CORE_CANON_H
#define PATRA_CORE_CANON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "core/codes.h"

enum { CANON_DEPTH_MAX = 8 };
#define CANON_NUMBER_MAX ((INT64_C(1) << 53) - 1)

struct canon {
    struct buf *out;
    int depth;
    struct {
        const char *last_key; /* NULL before the first, and in arrays */
        bool is_array;
        bool has_items;
    } levels[CANON_DEPTH_MAX];
};

struct canon canon_begin(struct buf *out); /* writes the outermost '{' */
void canon_end(struct canon *canon);       /* and its '}'; everything inside must be closed */

void canon_object(struct canon *canon, const char *key);
void canon_array(struct canon *canon, const char *key);
void canon_close(struct canon *canon); /* the innermost object or array */

/* Well-formed UTF-8 gives well-formed JSON; other bytes are copied unchanged. */
void canon_str(struct canon *canon, const char *key, struct str value);
void canon_i64(struct canon *canon, const char *key, int64_t value);
void canon_bool(struct canon *canon, const char *key, bool value);
void canon_null(struct canon *canon, const char *key);
void canon_instant(struct canon *canon, const char *key, int64_t at_us); /* "2026-01-02T..Z" */
/* "PT10M", "PT1H30M", "PT0.5S": ISO 8601 with hours at most, exact to the microsecond. */
void canon_duration(struct canon *canon, const char *key, int64_t duration_us);
void canon_code(struct canon *canon, const char *key, const struct code_table *table, int value);

/* A whole number of any size, as a string: database ids may exceed CANON_NUMBER_MAX. */
void canon_id(struct canon *canon, const char *key, int64_t value);

#endif
