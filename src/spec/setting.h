/* setting: everything a source file can say, a row per key.
 *
 * The same rows read and check the file, write it back, name the columns of the Registry, resolve
 * what is in effect, lay out the snapshot and make the manual, so none of these can be wrong alone.
 *
 *      path                    where                       kept in
 *      http.base_url           source, endpoint            reg_prov_http_cfg.base_url
 *      query.*.value           endpoint                    reg_prov_api_param_map.value, QUERY:*
 *      budget.requests         operation                   reg_prov_operation_cfg.budget_requests
 *
 * A path is relative to where it stands: the top of the file, endpoints.NAME or operations.NAME.
 * A star is a name chosen by the author; what is under it makes a row of its own, and `key` says
 * under which row_key. Of such a set, the setting marked `is_short` may be written alone:
 * `rows: "${page.size}"` is `rows: { value: "${page.size}" }`.
 */
#ifndef PATRA_SPEC_SETTING_H
#define PATRA_SPEC_SETTING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"
#include "core/codes.h"
#include "core/registry.h"

enum setting_type {
    SETTING_TEXT,         /* one line of text */
    SETTING_URL,          /* https://host/path */
    SETTING_NAME,         /* of an endpoint, a hook */
    SETTING_CODE,         /* a word of the dictionary `codes` */
    SETTING_BOOL,         /* true or false */
    SETTING_INT,          /* a whole number between min and max */
    SETTING_REAL,         /* a number between min and max */
    SETTING_SIZE,         /* bytes: 4096, 64KiB, 16MiB */
    SETTING_DURATION,     /* 500ms, 15m, 1d; min and max in microseconds */
    SETTING_INSTANT,      /* 2026-01-31 or 2026-01-31T10:00:00Z */
    SETTING_SCHEDULE,     /* a cron line */
    SETTING_TEMPLATE,     /* text with ${...} */
    SETTING_PATH,         /* JSONPath or XPath, after the endpoint's format */
    SETTING_PATHS,        /* one path, or a list of them whose values are joined */
    SETTING_HEADER,       /* the name of a header */
    SETTING_SECRET,       /* env:NAME or file:PATH, never the secret itself */
    SETTING_VALUE,        /* a text, env:NAME or file:PATH */
    SETTING_TEXTS,        /* a list of texts */
    SETTING_CODES,        /* a list of words of the dictionary */
    SETTING_STATUSES,     /* a list of HTTP statuses */
    SETTING_FUNCTIONS,    /* a list of template functions */
    SETTING_DATE_FORMATS, /* a list of date forms */
    SETTING_NAMESPACES,   /* a map of prefixes to URIs */
    SETTING_SHARES,       /* a map of operations to per cent */
    SETTING_BODY,         /* any tree; its texts are templates */
};

enum setting_level { /* where a setting may stand; several may be or-ed */
                     AT_SOURCE = 1,
                     AT_ENDPOINT = 2,
                     AT_OPERATION = 4,
};

struct setting {
    const char *path;
    unsigned at; /* enum setting_level */
    enum registry_table_id table;
    const char *column;
    const char *key; /* row_key; "QUERY:*": the star is the author's name; NULL: '' */
    enum setting_type type;
    const char *builtin; /* in effect where nothing is said, as a file would write it; or NULL */
    double min, max;     /* INT, REAL, SIZE, DURATION */
    const struct code_table *codes;
    bool is_required; /* in each row of its set, or in each endpoint or operation */
    bool is_short;
    bool is_list;     /* of a set: a list of maps instead of a map of names */
    bool is_about;    /* tells about the source; not part of what it does, hence of no snapshot */
    bool is_proto;    /* decides what is asked for or how an answer is read: expr_proto_hash */
    bool is_override; /* a trigger may change it for one plan */
    const char *help; /* one sentence */
};

extern const struct setting SETTINGS[];
extern const size_t SETTING_COUNT;

/* The setting of this path at this level, or NULL. "query.rows.value" is not a path,
 * "query.*.value" is. */
const struct setting *setting_find(enum setting_level level, struct str path);

/* True when there are settings below this path: "http", "query.*". */
bool setting_is_group(enum setting_level level, struct str path);

/* True when the author chooses the names below this path: "query", "response.error_when". */
bool setting_is_set(enum setting_level level, struct str path);

/* The one of the set's settings that may be written alone, or NULL. `path` ends in ".*". */
const struct setting *setting_short(enum setting_level level, struct str path);

/* The children of a path, in the table's order: `part` is the next part of the path, "http" below
 * "", "*" below "query". Begin with after == NULL, end at NULL. The setting returned is the first
 * below that part, and the place to go on from. A group's settings stand together in the table. */
const struct setting *setting_next(enum setting_level level, struct str path,
                                   const struct setting *after, struct str *part);

/* The last part of its path: "base_url". */
struct str setting_name(const struct setting *setting);

const char *setting_type_name(enum setting_type type); /* "duration", for texts and the manual */

/* What the column of a setting holds. */
enum registry_type setting_storage(const struct setting *setting);
int setting_column(const struct setting *setting); /* its index in the table */

/* Its row_key, with the author's name for the star; data is NULL when the arena is full. */
struct str setting_key(struct arena *arena, const struct setting *setting, struct str name);

#endif
