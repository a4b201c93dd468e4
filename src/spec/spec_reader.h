/* spec_reader: one value of a snapshot, put into its member of struct spec. Only spec/spec*.c and
 * the table of settings include this.
 *
 * The reader keeps the first fault. Every read after it does nothing, so the caller looks at
 * `failed` once, at the end.
 */
#ifndef PATRA_SPEC_SPEC_READER_H
#define PATRA_SPEC_SPEC_READER_H

#include "data/json.h"
#include "spec/setting.h"
#include "spec/spec.h"

struct spec_reader {
    struct arena *arena;
    const struct json_doc *doc;
    struct error *err;
    bool failed;
    bool is_detail;              /* reading phase two */
    enum response_format format; /* of the endpoint being read: decides what its paths are */
    const char *path;            /* of the value being read, for the fault's text */
    struct json_node root;       /* the group found last: of this object, at this path */
    struct str group_path;
    struct json_node group;
};

/* Records a fault about `path`: "snapshot: detail.page.size is not a whole number". */
void spec_fail(struct spec_reader *reader, const char *what);

/* Records that the arena is full. */
void spec_fail_memory(struct spec_reader *reader);

/* The decoded text of a string; empty, and a fault, when the node is anything else. */
struct str spec_string(struct spec_reader *reader, struct json_node node);

struct spec_path spec_path(struct spec_reader *reader, struct str text);

/* Reads the value of a setting into the member that the table names. The node may be absent. */
void spec_read_value(struct spec_reader *reader, const struct setting *setting,
                     struct json_node node, void *owner);

/* ---- lists ---- */

/* Of the kinds from SPEC_TEXTS on. */
void spec_read_list(struct spec_reader *reader, const struct spec_target *target,
                    struct json_node node, void *owner);

/* Stores the pointer to a list and its count in their owner. */
void spec_put_list(void *owner, const struct spec_target *target, const void *items, size_t count);

/* ---- settings that have a reader of their own ---- */

void spec_read_id(struct spec_reader *reader, struct json_node node, void *endpoint);
void spec_read_updated_at(struct spec_reader *reader, struct json_node node, void *endpoint);
void spec_read_shares(struct spec_reader *reader, struct json_node node, void *endpoint);
void spec_read_absent(struct spec_reader *reader, struct json_node node, void *endpoint);
void spec_read_candidates(struct spec_reader *reader, struct json_node node, void *operation);
void spec_read_selects(struct spec_reader *reader, struct json_node node, void *value);

#endif
