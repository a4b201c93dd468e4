/* template_eval: expressions to values. Internal to template*.c. */
#ifndef PATRA_DATA_TEMPLATE_EVAL_H
#define PATRA_DATA_TEMPLATE_EVAL_H

#include "data/template_tree.h"

struct template_call {
    const struct template_request *request;
    struct arena *arena;
    const struct template_value *arguments; /* of the types the function takes */
    size_t count;
};

bool template_eval(const struct template_node *node, struct arena *arena,
                   const struct template_request *request, struct template_value *value,
                   struct error *err) MUST_CHECK;

#endif
