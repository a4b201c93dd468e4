/* check_context: what the checks share. Only spec/check*.c include this. */
#ifndef PATRA_SPEC_CHECK_CONTEXT_H
#define PATRA_SPEC_CHECK_CONTEXT_H

#include "base/attr.h"
#include "data/template.h"
#include "data/xml.h"
#include "spec/check.h"
#include "spec/resolve.h"

struct check { /* of one endpoint, or of one operation and its endpoint */
    struct arena *arena;
    struct fault_list *faults;
    const struct source *source;
    const struct xml **xml; /* the module, loaded for the first XPath */
    struct resolution in;   /* what is in effect */
    int role;               /* enum endpoint_role; -1: unknown */
    int method;
    int page_type;
    int format;
    bool is_timed;  /* some operation requests windows from it */
    bool is_read;   /* some operation reads its files */
    bool is_by_id;  /* some operation, or a phase one, requests ids from it */
    bool has_phase; /* it is phase one: records come from its details endpoint */
    /* What its templates use, expressions included. */
    bool uses[TEMPLATE_SCOPES];
    unsigned variable_uses; /* a bit per row of template_variables */
    bool is_unclear;        /* a template cannot be read: what it uses is unknown */
    int64_t *expr_costs;    /* by row, of named expressions: see spec/check_template.c */
};

/* ---- reporting ---- */

/* A fault of a setting, by its path: the text follows the name of the field. Its place is that of
 * the value or, when it is missing, of the map that should have it. A fault in a value that several
 * endpoints inherit is reported once. */
void check_error(const struct check *check, const char *code, const char *path, const char *format,
                 ...) PRINTF_LIKE(4, 5);
void check_warn(const struct check *check, const char *code, const char *path, const char *format,
                ...) PRINTF_LIKE(4, 5);
void check_hint(const struct check *check, const char *format, ...) PRINTF_LIKE(2, 3);

/* A fault of a row that the author named, or of a place within one of its values. */
struct check_place {
    const struct registry_row *row;
    const char *column; /* NULL: the row itself */
    size_t offset;      /* within the value */
};
void check_row_error(const struct check *check, const char *code, struct check_place place,
                     const char *format, ...) PRINTF_LIKE(4, 5);

/* ---- questions ---- */

bool check_is_set(const struct check *check, const char *path);
bool check_is_missing(const struct check *check,
                      const char *path);           /* not written, rather than unreadable */
bool check_lacks_total(const struct check *check); /* neither total nor total_header */
/* As resolution_rows(); where memory ran out there are none, and the faults have failed. */
struct row_list check_rows(const struct check *check, struct row_filter filter);

/* Set for this endpoint (or operation), not inherited. */
bool check_is_own(const struct check *check, const char *path);

/* The setting is set at the level of `decider` or nearer to the endpoint. A source's `next` is no
 * fault of the one endpoint that pages by offset. */
bool check_is_as_near(const struct check *check, const char *path, const char *decider);

/* Whether all that the row has is of the source's template. What a file's own settings make useless
 * of it is not the fault of the file. */
bool check_is_templates(const struct registry_row *row);

/* Reports spec.idle when the setting is set as near as `decider`, which makes it idle. Returns
 * whether it did. */
bool check_idle(const struct check *check, const char *path, const char *decider,
                const char *format, ...) PRINTF_LIKE(4, 5);

/* Both are set, and the first is more than the second. */
bool check_is_more(const struct check *check, const char *path, const char *than);

/* Some template of the endpoint uses the variable, directly or through an expression. */
bool check_uses(const struct check *check, enum template_scope scope, const char *name);

/* What a HARVEST of the endpoint continues from. */
enum cursor_type check_window_type(const struct check *check);

/* The value of a column of a row that the author named. */
struct str row_text(const struct registry_row *row, const char *column);
bool row_is_set(const struct registry_row *row, const char *column);

/* ---- the checks, a file each ---- */

void check_templates(struct check *check); /* first: it finds what is used */
void check_http(struct check *check);
void check_auth(struct check *check);
void check_rate(struct check *check);
void check_page(struct check *check);
void check_window(struct check *check);
void check_feed(const struct check *check); /* of check_window() */
void check_response(struct check *check);
void check_fields(const struct check *check);  /* of check_response() */
void check_columns(const struct check *check); /* of the source as a whole */
void check_absent(struct check *check);
void check_details(struct check *check);
void check_bulk(const struct check *check);
void check_child(const struct check *check);
void check_bulk_operation(const struct check *check); /* of check_operation() */
void check_operation(struct check *check);
void check_sharing(const struct check *check, int operation); /* of check_operation() */

#endif
