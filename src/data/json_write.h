/* json_write: JSON into a buf, always well-formed.
 *
 *      struct json_writer w;
 *
 *      json_writer_init(&w, &body);
 *      json_write_object(&w);
 *      json_write_name(&w, STR("source"));
 *      json_write_str(&w, source);
 *      json_write_name(&w, STR("pages"));
 *      json_write_array(&w);
 *      json_write_i64(&w, 1);
 *      json_write_end(&w);
 *      json_write_end(&w);             {"source":"crossref","pages":[1]}
 *      json_writer_finish(&w);
 *      if (!buf_ok(&body, err)) ...
 *
 * The writer adds commas, colons, quotes and escapes, and no white space. Every misuse is an
 * assertion: a value without a name in an object, a name in an array, two values at the top, an
 * end too many, nesting beyond JSON_WRITE_DEPTH_MAX. Only the buf can fail (its limit, its arena).
 * It keeps the failure; the writer continues and the bytes are not used.
 */
#ifndef PATRA_DATA_JSON_WRITE_H
#define PATRA_DATA_JSON_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "data/json.h"

enum { JSON_WRITE_DEPTH_MAX = 64 };

struct json_writer {
    struct buf *out;
    uint64_t objects; /* bit i: the container at depth i is an object */
    unsigned depth;
    bool any;   /* the innermost container (or the top) has something in it */
    bool named; /* a name was written, its value is due */
};

/* out need not be empty: the value is appended, as in a file of JSON lines. */
void json_writer_init(struct json_writer *w, struct buf *out);

void json_write_object(struct json_writer *w);
void json_write_array(struct json_writer *w);
void json_write_end(struct json_writer *w); /* of the innermost object or array */

void json_write_name(struct json_writer *w, struct str name);

/* Bytes that are not well-formed UTF-8 become U+FFFD, one for each. */
void json_write_str(struct json_writer *w, struct str value);
void json_write_i64(struct json_writer *w, int64_t value);
void json_write_double(struct json_writer *w, double value); /* finite; as in json_number.h */
void json_write_bool(struct json_writer *w, bool value);
void json_write_null(struct json_writer *w);

/* A value that is JSON already, unchanged. Asserts that it is valid, which reads it once. */
void json_write_raw(struct json_writer *w, struct str json);

/* The same for a document's node, which is known to be valid. */
void json_write_node(struct json_writer *w, const struct json_doc *doc, struct json_node node);

/* Name and value at once. */
void json_write_member_str(struct json_writer *w, struct str name, struct str value);
void json_write_member_i64(struct json_writer *w, struct str name, int64_t value);
void json_write_member_bool(struct json_writer *w, struct str name, bool value);
void json_write_member_instant(struct json_writer *w, struct str name, int64_t at_us);

/* Asserts that one whole value was written. */
void json_writer_finish(const struct json_writer *w);

/* Only the string, quoted and escaped: \" \\ \b \t \n \f \r, \u00xx for other controls, all else
 * unchanged. This is RFC 8785's form. */
void json_quote(struct buf *out, struct str value);

#endif
