/* spec_reader: members of a snapshot's objects, read one by one. Only spec/spec*.c include this.
 *
 * The first fault is kept and everything after it reads as nothing, so it is asked about once, at
 * the end. `path` is for its text: "detail.page.size".
 */
#ifndef PATRA_SPEC_SPEC_READER_H
#define PATRA_SPEC_SPEC_READER_H

#include "data/json.h"
#include "spec/spec.h"

struct spec_reader {
    struct arena *arena;
    const struct json_doc *doc;
    struct error *err;
    bool failed;
};

struct spec_object {
    struct spec_reader *reader;
    struct json_node node;
    const char *name; /* for texts */
};

bool spec_fail(struct spec_reader *reader, const char *where, const char *what);

struct spec_object spec_object(struct spec_object parent, const char *name);

bool spec_has(struct spec_object object, const char *name);
struct str spec_text(struct spec_object object, const char *name);
int64_t spec_number(struct spec_object object, const char *name);
double spec_real(struct spec_object object, const char *name);
bool spec_bool(struct spec_object object, const char *name);
int spec_code(struct spec_object object, const char *name, const struct code_table *codes);
void spec_template(struct spec_object object, const char *name, struct template *out);

/* A list's texts or statuses, in the arena. */
size_t spec_texts(struct spec_object object, const char *name, const struct str **items);
size_t spec_statuses(struct spec_object object, const char *name, const int **items);

/* A path of an endpoint of this format. */
struct spec_path spec_path(struct spec_object object, const char *name,
                           enum response_format format);
struct spec_path spec_path_of(struct spec_reader *reader, struct str text,
                              enum response_format format);

/* A decoded string of a node that must be one. */
struct str spec_string(struct spec_reader *reader, struct json_node node);

void spec_read_response(struct spec_object endpoint, struct spec_response *response);

#endif
