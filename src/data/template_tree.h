/* template_tree: what a template is compiled to. Internal to template*.c. */
#ifndef PATRA_DATA_TEMPLATE_TREE_H
#define PATRA_DATA_TEMPLATE_TREE_H

#include "data/template.h"

enum { TEMPLATE_PARAMETERS_MAX = 2 }; /* of a function's table row; the last one may repeat */

struct template_call; /* the call as its function sees it, template_eval.h */

struct template_function {
    struct template_function_row row;
    size_t least;                            /* arguments */
    size_t most;                             /* SIZE_MAX: any number */
    unsigned takes[TEMPLATE_PARAMETERS_MAX]; /* sets of template_type; the last one repeats */
    unsigned gives; /* null is always possible; 0: the types of its arguments */
    /* For a last argument that must be a literal text: checks it when the template is compiled. */
    bool (*check)(struct str literal, struct error *err);
    bool takes_null; /* otherwise a null argument makes the result null without calling eval */
    bool (*eval)(const struct template_call *call, struct template_value *value, struct error *err);
};

extern const struct template_function template_functions[];
extern const size_t template_functions_count;

struct template_node {
    enum { TEMPLATE_NODE_LITERAL, TEMPLATE_NODE_VARIABLE, TEMPLATE_NODE_CALL } kind;
    size_t offset;
    struct template_node *next; /* the next argument of the same call */
    struct template_value literal;
    const struct template_use *use; /* of a variable or a call */
    const struct template_function *function;
    struct template_node *arguments;
    size_t argument_count;
};

struct template_piece {
    struct template_piece *next;
    struct str text;            /* of a placeholder its source, from ${ to } */
    struct template_node *node; /* NULL for literal text */
    bool is_secret;
};

#endif
