/* iregexp_program: the machine between iregexp.c, which builds it, and iregexp_run.c. */
#ifndef PATRA_DATA_IREGEXP_PROGRAM_H
#define PATRA_DATA_IREGEXP_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum state_kind {
    STATE_CHAR,  /* matches `a`, then continues with the next state */
    STATE_ANY,   /* matches all but \n and \r */
    STATE_CLASS, /* matches what class number `a` contains */
    STATE_SPLIT, /* continues at both */
    STATE_JUMP,  /* continues at `a` */
    STATE_FIRST, /* continues with the next state only at the start of the text */
    STATE_LAST,  /* the same, only at its end */
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
