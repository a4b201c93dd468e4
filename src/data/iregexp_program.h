/* iregexp_program: the machine between iregexp.c, which builds it, and iregexp_run.c. */
#ifndef PATRA_DATA_IREGEXP_PROGRAM_H
#define PATRA_DATA_IREGEXP_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum state_kind {
    STATE_CHAR,  /* passes on `a`, and goes on with the next state */
    STATE_ANY,   /* passes on all but \n and \r */
    STATE_CLASS, /* passes on what class number `a` holds */
    STATE_SPLIT, /* goes on at both */
    STATE_JUMP,  /* goes on at `a` */
    STATE_FIRST, /* goes on with the next state at the text's begin only */
    STATE_LAST,  /* the same at its end */
    STATE_END,   /* the expression has matched */
};

/* Targets are relative to the state itself, so that a run of states can be moved and copied. */
struct state {
    enum state_kind kind;
    int32_t a, b;
};

struct class_item {
    uint32_t low, high; /* a range of code points; used when categories is 0 */
    uint32_t categories;
    bool outside; /* of the categories: \P */
};

struct class
{
    size_t first, count; /* of items */
    bool negated;
};

struct iregexp {
    struct state *states;
    size_t count;
    struct class *classes;
    struct class_item *items;
};

#endif
