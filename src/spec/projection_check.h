/* projection_check: the rules of a projection file beyond the form of its values. Internal to
 * projection*.c. */
#ifndef PATRA_SPEC_PROJECTION_CHECK_H
#define PATRA_SPEC_PROJECTION_CHECK_H

#include "base/arena.h"
#include "core/projection_spec.h"
#include "spec/fault.h"
#include "spec/node.h"

struct projection_walk {
    struct arena *arena;
    struct fault_list *faults;
    struct str file;
};

/* The columns that templates and indexes may name. */
struct projection_columns {
    const struct projection_column *items;
    size_t count;
    const struct projection_table *table; /* whose; NULL: a child's */
    bool is_child;
};

/* `count` when there is none. */
size_t projection_column_find(const struct projection_columns *columns, struct str name);
/* Also the columns of a table's key, version and deletion. */
bool projection_has_column(const struct projection_columns *columns, struct str name);

void projection_check_name(struct projection_walk *walk, struct mark at, struct str what,
                           struct str name);
void projection_check_path(struct projection_walk *walk, const struct node *node, struct str field,
                           struct str path);
void projection_check_column(struct projection_walk *walk, struct str field,
                             const struct node *node, const struct projection_column *column);
/* A value of column number `at`. */
void projection_check_value(struct projection_walk *walk, const struct node *node,
                            const struct projection_value *value,
                            const struct projection_columns *columns, size_t at);
void projection_check_child(struct projection_walk *walk, struct str field, const struct node *node,
                            const struct projection_table *table,
                            const struct projection_child *child);
void projection_check_source(struct projection_walk *walk, struct str field,
                             const struct node *node, const struct projection_table *table,
                             const struct projection_source *source);
void projection_check_table(struct projection_walk *walk, struct str field, const struct node *node,
                            const struct projection_table *table);
void projection_check_tables(struct projection_walk *walk, const struct node *node,
                             const struct projection_spec *spec);
void projection_check_top(struct projection_walk *walk, const struct node *node,
                          const struct projection_spec *spec);

#endif
