/* jsonpath_program: a compiled path, between jsonpath_parse*.c, which build it, and the rest. */
#ifndef PATRA_DATA_JSONPATH_PROGRAM_H
#define PATRA_DATA_JSONPATH_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "data/iregexp.h"
#include "data/jsonpath.h"

struct path_expr;

enum selector_kind { SELECT_NAME, SELECT_ALL, SELECT_INDEX, SELECT_SLICE, SELECT_FILTER };

struct path_selector {
    enum selector_kind kind;
    struct str name;   /* decoded */
    int64_t index;     /* of SELECT_INDEX; of SELECT_SLICE the start, if given */
    int64_t end, step; /* of SELECT_SLICE */
    bool has_start, has_end;
    const struct path_expr *filter;
    struct path_selector *next;
};

struct path_segment {
    bool descendant;
    bool blanks; /* next to its brackets */
    struct path_selector *selectors;
    struct path_segment *next;
};

struct path_query {
    bool relative; /* starts with @ */
    bool singular;
    bool blanks; /* inside its brackets: not singular in the grammar of comparisons */
    struct path_segment *segments;
};

enum function_type { TYPE_VALUE, TYPE_LOGICAL, TYPE_NODES };
enum function_id {
    FUNCTION_LENGTH,
    FUNCTION_COUNT,
    FUNCTION_MATCH,
    FUNCTION_SEARCH,
    FUNCTION_VALUE
};

struct path_function {
    struct str name;
    enum function_id id;
    enum function_type result;
    size_t argc;
    enum function_type args[2];
};

struct path_call;

enum operand_kind { OPERAND_LITERAL, OPERAND_QUERY, OPERAND_CALL };

struct path_operand {
    enum operand_kind kind;
    /* OPERAND_LITERAL */
    enum json_type type;
    struct str text; /* a string decoded, a number as written */
    bool truth;
    const struct path_query *query;
    const struct path_call *call;
};

struct path_call {
    const struct path_function *function;
    struct path_operand args[2];
    const struct iregexp *pattern; /* of match and search, where it is a literal and well-formed */
    bool pattern_is_bad;           /* a literal, and not well-formed: never matches */
};

enum expr_kind { EXPR_OR, EXPR_AND, EXPR_NOT, EXPR_COMPARE, EXPR_TEST };
enum compare_op { COMPARE_EQ, COMPARE_NE, COMPARE_LT, COMPARE_LE, COMPARE_GT, COMPARE_GE };

struct path_expr {
    enum expr_kind kind;
    struct path_expr *terms; /* of OR and AND two or more, of NOT one, linked by next */
    struct path_expr *next;
    enum compare_op op;
    struct path_operand left; /* of COMPARE; of TEST what is tested: a query or a call */
    struct path_operand right;
};

struct jsonpath {
    struct str text;
    struct path_query query;
    const char *warning;
};

/* ---- the parser, shared between jsonpath_parse.c and jsonpath_filter.c ---- */

struct path_parser {
    struct arena *arena;
    const char *begin;
    const char *at;
    const char *end;
    unsigned nest;
    size_t fault_at;
    const char *warning;
    struct error *err;
};

bool path_fault(struct path_parser *p, const char *at, const char *what);
bool path_no_memory(struct path_parser *p);
void path_skip_space(struct path_parser *p);
bool path_is_at(const struct path_parser *p, struct str text);
bool path_take(struct path_parser *p, struct str text); /* moves past it if it is next */
bool path_enter(struct path_parser *p);                 /* one level deeper, or a fault */
void path_leave(struct path_parser *p);

bool path_read_string(struct path_parser *p, struct str *out);         /* at its quote */
bool path_read_query(struct path_parser *p, struct path_query *query); /* at its $ or @ */
bool path_read_filter(struct path_parser *p, struct path_expr **out);  /* after its ? */

/* ---- running, shared between jsonpath_eval.c and jsonpath_compare.c ---- */

struct path_list {
    struct json_node *items;
    size_t count;
    size_t capacity;
};

/* The memory of one running query; a query inside a filter runs on the next frame. All of it is
 * reused for the next candidate of the filter. */
struct path_frame {
    struct path_list lists[2];
    struct json_iter *stack; /* of a descent */
    size_t stack_capacity;
    struct buf texts[2]; /* decoded strings: a comparison's sides, a function's arguments */
};

/* A comparison of two arrays or objects: the children of a, each with its counterpart in b. */
struct path_pair {
    struct json_iter a, b;
    struct json_node b_node;
};

/* States and sets of the largest pattern take a quarter of it. */
enum { PATH_PATTERN_BYTES_MAX = 1 << 20 };

struct path_run {
    const struct json_doc *doc;
    struct json_node root;
    struct arena *arena;
    struct arena patterns; /* for one regular expression at a time */
    struct path_frame frames[JSONPATH_NEST_MAX + 2];
    struct path_pair *pairs; /* of a comparison */
    size_t pair_capacity;
    uint64_t *steps;
    struct error *err;
};

bool path_spend(struct path_run *run, uint64_t steps);
bool path_spend_bytes(struct path_run *run, size_t bytes); /* of text read or copied */

/* The query's results, valid until the frame is used again. */
bool path_run_query(struct path_run *run, size_t frame, const struct path_query *query,
                    struct json_node current, struct path_list **out);
bool path_run_singular(struct path_run *run, const struct path_query *query,
                       struct json_node current, struct json_node *out);

/* Whether the filter holds for this node. Queries inside run on `frame` and above. */
bool path_test(struct path_run *run, size_t frame, const struct path_expr *expr,
               struct json_node current, bool *holds);

/* json_next, counted in steps. *more is false at the end. */
bool path_next(struct path_run *run, struct json_iter *it, bool *more);

/* The member with this name. */
bool path_member(struct path_run *run, struct json_node object, struct str name,
                 struct json_node *out);

#endif
