/* setting: everything a source file can say, one row per key.
 *
 * The same rows read and check the file, write it back, name the columns of the Registry, resolve
 * what is in effect, write the snapshot, read it into struct spec and make the manual. A new
 * setting is a row here, a member of struct spec and a column of the Registry; no reader or writer
 * changes.
 *
 *      path               kept in                                   read into
 *      http.base_url      reg_prov_http_cfg.base_url                http.base_url
 *      query.*.value      reg_prov_api_param_map.value, QUERY:*     spec_param.value
 *      budget.requests    reg_prov_operation_cfg.budget_requests    budget_requests
 *
 * A path is relative to its level: the top of the file, endpoints.NAME or operations.NAME. A star
 * is a name chosen by the author: "query.*" is a set, each member of it is a row of its own in the
 * Registry, and `key` is the pattern of its row_key. One setting of a set may be marked `is_short`;
 * its value may then be written without its name: `rows: "${page.size}"` means
 * `rows: { value: "${page.size}" }`.
 */
#ifndef PATRA_SPEC_SETTING_H
#define PATRA_SPEC_SETTING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"
#include "core/codes.h"
#include "core/registry.h"
#include "data/json.h"

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
    SETTING_PATH,         /* JSONPath or XPath, by the endpoint's format */
    SETTING_PATHS,        /* one path, or a list of them */
    SETTING_HEADER,       /* the name of a header */
    SETTING_SECRET,       /* env:NAME or file:PATH, never the secret itself */
    SETTING_VALUE,        /* a text, env:NAME or file:PATH */
    SETTING_TEXTS,        /* a list of texts */
    SETTING_CODES,        /* a list of words of the dictionary */
    SETTING_STATUSES,     /* a list of HTTP statuses */
    SETTING_FUNCTIONS,    /* a list of template functions */
    SETTING_DATE_FORMATS, /* a list of date formats */
    SETTING_NAMESPACES,   /* a map of prefixes to URIs */
    SETTING_SHARES,       /* a map of operations to percent */
    SETTING_BODY,         /* any tree; its texts are templates */
};

enum setting_level { /* where a setting may be written; several may be or-ed */
                     AT_SOURCE = 1,
                     AT_ENDPOINT = 2,
                     AT_OPERATION = 4,
};

struct resolution;
struct spec_reader;

/* The type of the member of struct spec that receives a setting. The table takes it from the
 * member's declaration, so it cannot be wrong; a test checks that it suits the setting's type. */
enum spec_kind {
    SPEC_NOWHERE, /* not read: only checks use it, or `read` stores it */
    SPEC_BOOL,
    SPEC_INT,
    SPEC_I64,
    SPEC_DOUBLE,
    SPEC_WORD, /* an enum */
    SPEC_STR,
    SPEC_TEMPLATE, /* compiled */
    SPEC_PATH,     /* compiled when the endpoint's format is JSON */
    SPEC_TEXTS,    /* the lists: a pointer and a count */
    SPEC_STATUSES,
    SPEC_DATE_FORMATS,
    SPEC_NAMESPACES,
};

/* Where spec_read() puts a value. The offsets are those of struct spec_endpoint, struct
 * spec_operation or, for settings of a set, the set's item. */
struct spec_target {
    enum spec_kind kind;
    size_t offset;
    size_t count_offset; /* lists: of the count */
    size_t has_offset;   /* of a bool that says whether the snapshot has the value; 0: none */
    /* For the few values that fit none of the kinds; `owner` is the struct itself. */
    void (*read)(struct spec_reader *reader, struct json_node node, void *owner);
};

struct setting {
    const char *path;
    unsigned at; /* enum setting_level */
    enum registry_table_id table;
    const char *column;
    const char *key; /* row_key; "QUERY:*": the star is the author's name; NULL: '' */
    enum setting_type type;
    const char *builtin; /* the default, as a file would write it; or NULL */
    /* Computes the default where it depends on the operation or the endpoint; may return a value
     * that is not set. */
    struct registry_value (*derive)(const struct resolution *resolution);
    double min, max; /* INT, REAL, SIZE, DURATION */
    const struct code_table *codes;
    struct spec_target into;
    bool is_required; /* in each member of its set, or in each endpoint or operation */
    bool is_short;
    bool is_list;     /* of a set: a list of maps instead of a map of names */
    bool is_optional; /* a BOOL or CODE that a snapshot may lack */
    bool is_about;    /* describes the source, not what it does: not part of a snapshot */
    bool is_proto;    /* decides which records are requested and kept: query_hash */
    bool is_mapping;  /* decides how a stored record is read: mapping_hash */
    bool is_override; /* a trigger may change it for one plan */
    const char *help; /* one sentence */
};

/* A set of the file: its members are named by the author, or are a list of rules. */
struct setting_set {
    const char *path;            /* of the set: "query" */
    enum setting_level level;    /* of its settings */
    enum set_layout {            /* in the snapshot */
                      SET_LIST,  /* [{"name":..., ...}]: the order counts */
                      SET_RULES, /* [{...}] */
                      SET_MAP,   /* {"name":{...}} */
                      SET_TEXTS, /* {"name":"..."}: the short setting only */
    } layout;
    size_t item_size;        /* an item of a set with names begins with its name */
    struct spec_target into; /* a list in struct spec_endpoint (params: in struct spec) */
};

extern const struct setting SETTINGS[];
extern const size_t SETTING_COUNT;

extern const struct setting_set SETTING_SETS[];
extern const size_t SETTING_SET_COUNT;

/* The setting of this path at this level, or NULL. The path has the star: "query.*.value", not
 * "query.rows.value". */
const struct setting *setting_find(enum setting_level level, struct str path);

/* True when there are settings below this path: "http", "query.*". */
bool setting_is_group(enum setting_level level, struct str path);

/* True when the author chooses the names below this path: "query", "response.error_when". */
bool setting_is_set(enum setting_level level, struct str path);

/* The setting of the set that may be written without its name, or NULL. `path` ends in ".*". */
const struct setting *setting_short(enum setting_level level, struct str path);

/* The children of a path, in the table's order: `part` is the next part of the path, "http" below
 * "", "*" below "query". Start with after == NULL; NULL ends the walk. The setting returned is the
 * first below that part; pass it as `after` for the next. A group's settings are adjacent in the
 * table. */
const struct setting *setting_next(enum setting_level level, struct str path,
                                   const struct setting *after, struct str *part);

/* The set of this path, or NULL. */
const struct setting_set *setting_set(enum setting_level level, struct str path);

/* The settings of a set's members, in the table's order. Start with after == NULL. */
const struct setting *setting_set_next(const struct setting_set *set, const struct setting *after);

/* The start of the row_keys of a set's members: "QUERY:". */
struct str setting_key_prefix(const struct setting *setting);

/* The last part of its path: "base_url". */
struct str setting_name(const struct setting *setting);

const char *setting_type_name(enum setting_type type); /* "duration", for texts and the manual */

/* Its member of the snapshot's objects: the last part of its path with the unit, "lag_us",
 * "body_max_bytes". `out` holds the text. */
enum { SETTING_MEMBER_MAX = 80 };
struct str setting_member(const struct setting *setting, char out[SETTING_MEMBER_MAX]);

/* False for settings that phase two does not have: details are requested by id, not by window. */
bool setting_is_in_detail(const struct setting *setting);

/* What the column of a setting holds. */
enum registry_type setting_storage(const struct setting *setting);
int setting_column(const struct setting *setting); /* its index in the table */

/* Its row_key, with the author's name for the star; data is NULL when the arena is full. */
struct str setting_key(struct arena *arena, const struct setting *setting, struct str name);

#endif
