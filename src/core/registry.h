/* registry: the configuration of a source as rows, independent of YAML and SQL.
 *
 * A source is a set of rows in the reg_* tables. Authors write YAML (src/spec reads and writes it),
 * stores keep rows (adapters bind them), and both use the table descriptions of this header:
 *
 *      sources/x.yaml --src/spec--> rows --store--> reg_* --store--> rows --src/spec--> snapshot
 *
 * Every table begins with the same columns, so that the same SQL works for all:
 *      id, provenance_code, endpoint_name ('' = the whole source), row_key ('' = the only row),
 *      position (order in the file), version, effective_from, effective_to (NULL = in force),
 *      template_columns (which of the columns below came from the source's template)
 * and then the columns listed by registry_table(). At any instant at most one row per (table,
 * provenance_code, endpoint_name, row_key) is in force; changing it closes the old row and adds
 * one.
 */
#ifndef PATRA_CORE_REGISTRY_H
#define PATRA_CORE_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum registry_table_id {
    REGISTRY_PROVENANCE, /* reg_provenance: the source itself */
    REGISTRY_ENDPOINT,   /* reg_prov_endpoint_def: one row per endpoint, under its name */
    REGISTRY_OPERATION,  /* reg_prov_operation_cfg: key = its name; which endpoint, how often */
    REGISTRY_HTTP,       /* reg_prov_http_cfg */
    REGISTRY_CREDENTIAL, /* reg_prov_credential: where a secret is, never the secret */
    REGISTRY_PAGINATION, /* reg_prov_pagination_cfg */
    REGISTRY_WINDOW,     /* reg_prov_window_offset_cfg */
    REGISTRY_RETRY,      /* reg_prov_retry_cfg */
    REGISTRY_RATE_LIMIT, /* reg_prov_rate_limit_cfg */
    REGISTRY_BATCHING,   /* reg_prov_batching_cfg */
    REGISTRY_PARAM,      /* reg_prov_api_param_map: key = LOCATION:name, e.g. QUERY:rows */
    REGISTRY_EXPR_CAPABILITY, /* reg_prov_expr_capability */
    REGISTRY_EXPR_RENDER, /* reg_prov_expr_render_rule: key = '', or the name of an expression */
    REGISTRY_FIELD,       /* reg_expr_field_dict: key = KIND:name, e.g. PATH:items, OUTPUT:title */
    REGISTRY_TABLE_COUNT,
};

enum registry_type {
    REGISTRY_TEXT,
    REGISTRY_INT,  /* also limits, sizes, statuses */
    REGISTRY_REAL, /* rates */
    REGISTRY_BOOL,
    REGISTRY_DURATION, /* microseconds */
    REGISTRY_JSON,     /* canonical JSON text: lists and maps that no query searches */
};

struct registry_column {
    const char *name;
    enum registry_type type;
};

struct registry_table {
    const char *name; /* "reg_prov_http_cfg" */
    const struct registry_column *columns;
    size_t column_count;
};

struct registry_value {
    bool is_set;      /* false: NULL, not set here; inherited from the level below */
    struct str text;  /* TEXT, JSON */
    int64_t number;   /* INT, BOOL, DURATION */
    double real;      /* REAL */
    bool is_template; /* set, by the template that the source names */
};

struct registry_row {
    int64_t id; /* assigned by the store; 0 before that */
    enum registry_table_id table;
    struct str endpoint; /* '' = the whole source */
    struct str key;      /* '' = the only row of its table and endpoint */
    int32_t position;    /* order in the file, from 0 */
    int64_t version;     /* of the source when this row came into force */
    int64_t effective_from_us;
    struct registry_value *values; /* one per column of the table */
};

struct registry_source {
    struct str code; /* provenance_code */
    struct registry_row *rows;
    size_t count;
};

const struct registry_table *registry_table(enum registry_table_id id);

/* The column's index in the table, or -1. */
int registry_column(enum registry_table_id id, struct str name);

/* Both unset, or both set to the same value; numbers are compared exactly. */
bool registry_value_eq(enum registry_type type, const struct registry_value *a,
                       const struct registry_value *b);

/* Same table, place, order and values, and these of the same origin, the file or its template; id,
 * version and effective times do not count. */
bool registry_row_eq(const struct registry_row *a, const struct registry_row *b);

#endif
