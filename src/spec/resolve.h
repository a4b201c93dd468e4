/* resolve: what is in effect for an endpoint and an operation, and where each value came from.
 *
 * A value can come from five places; the rightmost that has one wins:
 *
 *      built-in  <  source  <  endpoint  <  config                    <  trigger
 *      the table    rows for   reg_prov_    rows of the sub-domains      --set page.size=50,
 *      itself       the whole  endpoint_    for this endpoint, and       for one plan
 *                   source     def          the operation's
 *
 * Members of sets (headers, parameters, expressions, fields) are inherited one by one: an
 * endpoint's member replaces the source's member of the same name. Rules about responses are
 * joined, the endpoint's first, because the first rule that applies decides.
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
    struct registry_value value; /* not set: there is no value and no default */
    enum origin origin;
    const struct registry_row *row; /* it came from; NULL for built-in and trigger. A row
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
    const struct registry_row *operation; /* NULL: none, resolve only the endpoint */
    const struct override *overrides;
    size_t override_count;
    bool is_detail;          /* phase two: the trigger's page and window do not apply */
    struct resolved *values; /* by the index of the setting; those below a star are not set */
};

/* What to resolve. The endpoint must be one of the source's. */
struct resolve_request {
    const struct source *source;
    struct str endpoint;
    const struct registry_row *operation;
    struct override_list overrides;
    bool is_detail;
};

/* "spec.override" (L2) names an override that is unknown, may not be set by a trigger, or has an
 * invalid value. */
bool resolve(struct arena *arena, const struct resolve_request *request,
             struct resolution *resolution, struct error *err) MUST_CHECK;

/* By path: "page.size", "priority". It must be in the table, without a star (assert). */
const struct resolved *resolution_get(const struct resolution *resolution, const char *path);

/* Shorthands. A value that is not set returns 0, false, the empty text, -1. */
int64_t resolution_number(const struct resolution *resolution, const char *path);
bool resolution_bool(const struct resolution *resolution, const char *path);
struct str resolution_text(const struct resolution *resolution, const char *path);
int resolution_code(const struct resolution *resolution, const char *path);

/* ---- sets ---- */

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

/* The trigger's value of a parameter, "params.NAME"; NULL when it has none. */
const struct override *resolution_param(const struct resolution *resolution, struct str name);

/* ---- operations ---- */

/* The kind of an operation, by its setting `operation`, else by its name; -1 when neither is in the
 * dictionary. */
int source_operation_code(const struct registry_row *operation);

/* The row of an operation, by its name or, when no operation has the name, the only one of that
 * kind. NULL when there is none. */
const struct registry_row *source_find_operation(const struct source *source, struct str name);

#endif
