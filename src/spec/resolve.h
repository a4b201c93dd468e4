/* resolve: what is in effect for an endpoint and an operation, and where each value came from.
 *
 * Five places can speak, the later before the earlier:
 *
 *      built-in  <  source  <  endpoint  <  config                    <  trigger
 *      the table    rows for   reg_prov_    rows of the sub-domains      --set page.size=50,
 *      itself       the whole  endpoint_    for this endpoint, and       for one plan
 *                   source     def          the operation's
 *
 * Named things (headers, parameters, expressions, fields) are inherited one by one: an endpoint's
 * takes the place of the source's of the same name. Rules about answers are put together, the
 * endpoint's first, for the first that applies decides.
 */
#ifndef PATRA_SPEC_RESOLVE_H
#define PATRA_SPEC_RESOLVE_H

#include "base/arena.h"
#include "base/attr.h"
#include "base/error.h"
#include "core/codes.h"
#include "spec/source.h"

enum origin { ORIGIN_BUILTIN, ORIGIN_SOURCE, ORIGIN_ENDPOINT, ORIGIN_CONFIG, ORIGIN_TRIGGER };
const char *origin_name(enum origin origin); /* "built-in" ... "trigger" */

struct resolved {
    struct registry_value value; /* not set: nobody said anything, and there is no built-in */
    enum origin origin;
    const struct registry_row *row; /* that said it; NULL for built-in and trigger. A row
                                       without a value: it could not be read. */
};

struct override { /* of a trigger: "page.size" = "50", as a file would write it */
    struct str path;
    struct str value;
};

struct override_list {
    const struct override *items;
    size_t count;
};

struct resolution {
    const struct source *source;
    struct str endpoint;
    const struct registry_row *operation; /* NULL: none, only the endpoint's values are meant */
    const struct override *overrides;
    size_t override_count;
    bool is_detail;          /* phase two: page and window of the trigger are not for it */
    struct resolved *values; /* by the index of the setting; those below a star are not set */
};

/* What is resolved. The endpoint must be one of the source's. */
struct resolve_request {
    const struct source *source;
    struct str endpoint;
    const struct registry_row *operation;
    struct override_list overrides;
    bool is_detail;
};

/* "spec.override" (L2) names an override that is unknown, may not be given by a trigger, or has a
 * value that does not fit. */
bool resolve(struct arena *arena, const struct resolve_request *request,
             struct resolution *resolution, struct error *err) MUST_CHECK;

/* By path: "page.size", "priority". It must be in the table, without a star (assert). */
const struct resolved *resolution_get(const struct resolution *resolution, const char *path);

/* The same, for what is read most. A value that is not set gives 0, false, the empty text, -1. */
int64_t resolution_number(const struct resolution *resolution, const char *path);
bool resolution_bool(const struct resolution *resolution, const char *path);
struct str resolution_text(const struct resolution *resolution, const char *path);
int resolution_code(const struct resolution *resolution, const char *path);

/* ---- what authors name ---- */

struct row_list {
    const struct registry_row **items;
    size_t count;
};

/* Which rows: those of a table whose key starts with a prefix. */
struct row_filter {
    enum registry_table_id table;
    struct str prefix; /* "QUERY:"; "": all rows that have a key */
    bool are_rules;    /* the endpoint's rules come before the source's, and replace none */
};
struct row_filter row_filter_of(const struct setting_set *set);

/* The rows in effect, in the order of the file. */
bool resolution_rows(struct arena *arena, const struct resolution *resolution,
                     struct row_filter filter, struct row_list *rows, struct error *err) MUST_CHECK;

/* A trigger's value for a parameter, "params.NAME"; NULL when it gives none. */
const struct override *resolution_param(const struct resolution *resolution, struct str name);

/* ---- operations ---- */

/* What an operation is: by its own word, else by its name; -1 when neither is in the dictionary. */
int source_operation_code(const struct registry_row *operation);

/* The row of an operation, by its name or, when no name fits, by the only one of that kind. NULL
 * when there is none. */
const struct registry_row *source_find_operation(const struct source *source, struct str name);

#endif
