/* A list of partitions under one lock. */
#include "engine/execute/partitions.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/turn.h"

struct entry {
    struct entry *next;
    char *source; /* both texts in one allocation */
    char *endpoint;
    enum operation operation;
    struct health health;
    struct partition_rules rules;
    bool is_known;
    int64_t last_turn;
    struct partition_rest rest; /* the longest that was demanded */
};

struct partitions {
    pthread_mutex_t lock;
    struct entry *entries;
    size_t count;
    int64_t turns;
};

bool partitions_open(struct partitions **out, struct error *err)
{
    struct partitions *partitions = calloc(1, sizeof(*partitions));

    *out = partitions;
    if (partitions == NULL || pthread_mutex_init(&partitions->lock, NULL) != 0) {
        free(partitions);
        *out = NULL;
        return error_set(err, ERROR_TRANSIENT, "memory.system", "no memory for the partitions");
    }
    return true;
}

void partitions_close(struct partitions *partitions)
{
    struct entry *next;

    if (partitions == NULL)
        return;
    for (struct entry *m = partitions->entries; m != NULL; m = next) {
        next = m->next;
        free(m->source);
        free(m);
    }
    pthread_mutex_destroy(&partitions->lock);
    free(partitions);
}

/* ---- entries; the lock is held ---- */

static bool is_of(const struct entry *m, const struct task_partition *p)
{
    return m->operation == p->operation && str_eq(str_of(m->source), p->source) &&
           str_eq(str_of(m->endpoint), p->endpoint);
}

static struct entry *add_entry(struct partitions *partitions, const struct task_partition *p)
{
    struct entry *m = calloc(1, sizeof(*m));
    char *texts = m != NULL ? malloc(p->source.len + p->endpoint.len + 2) : NULL;

    if (texts == NULL || partitions->count >= PARTITIONS_MAX) {
        free(texts);
        free(m);
        return NULL;
    }
    m->source = texts;
    m->endpoint = texts + p->source.len + 1;
    memcpy(m->source, p->source.data, p->source.len);
    m->source[p->source.len] = '\0';
    memcpy(m->endpoint, p->endpoint.data, p->endpoint.len);
    m->endpoint[p->endpoint.len] = '\0';
    m->operation = p->operation;
    m->rules.health = health_default();
    m->next = partitions->entries;
    partitions->entries = m;
    partitions->count++;
    return m;
}

/* NULL when memory is short: the partition is then served but not remembered. */
static struct entry *entry_of(struct partitions *partitions, const struct task_partition *p)
{
    for (struct entry *m = partitions->entries; m != NULL; m = m->next) {
        if (is_of(m, p))
            return m;
    }
    return add_entry(partitions, p);
}

/* ---- turns ---- */

static struct turn turn_of(struct partitions *partitions, const struct partition_query *query,
                           const struct partition_state *state)
{
    const struct entry *m = entry_of(partitions, &state->partition);
    struct turn turn = {
        .may_run =
            state->has_due && query->wanted(query->context, &state->partition) &&
            !pause_list_has(query->pauses, state->partition.source, state->partition.endpoint),
        .priority = state->priority,
        .live = state->live,
        .live_max = PARTITION_RUNNING_MAX,
    };

    if (m == NULL)
        return turn;
    turn.last = m->last_turn;
    turn.may_run = turn.may_run && !health_is_open(&m->health, query->now_us) &&
                   m->rest.until_us <= query->now_us;
    turn.live_max = health_live_max(
        &m->health, &m->rules.health,
        m->rules.running_max > 0 ? m->rules.running_max : PARTITION_RUNNING_MAX, query->now_us);
    return turn;
}

/* Compared one by one, so that no list of turns is needed: choosing between two is transitive. */
static struct partition_choice choose(struct partitions *partitions,
                                      const struct partition_query *query)
{
    struct partition_choice choice = { 0 };
    struct turn pair[2];

    for (size_t i = 0; i < query->partitions->count; i++) {
        const struct partition_state *state = &query->partitions->items[i];
        const size_t best = choice.partition != NULL ? 1 : 0;

        pair[best] = turn_of(partitions, query, state);
        if (turn_choose(pair, best + 1) != best)
            continue;
        pair[0] = pair[best];
        choice = (struct partition_choice){ .partition = state, .live_max = pair[0].live_max };
    }
    return choice;
}

struct partition_choice partitions_choose(struct partitions *partitions,
                                          const struct partition_query *query)
{
    struct partition_choice choice;
    struct entry *m;

    pthread_mutex_lock(&partitions->lock);
    choice = choose(partitions, query);
    if (choice.partition != NULL &&
        (m = entry_of(partitions, &choice.partition->partition)) != NULL)
        m->last_turn = ++partitions->turns;
    pthread_mutex_unlock(&partitions->lock);
    return choice;
}

/* Of one partition. */
static struct partition_rest rest_of(struct partitions *partitions,
                                     const struct partition_query *query,
                                     const struct partition_state *state)
{
    const struct entry *m = entry_of(partitions, &state->partition);

    if (m != NULL && health_is_open(&m->health, query->now_us))
        return (struct partition_rest){ .until_us = m->health.open_until_us,
                                        .reason = WAIT_CIRCUIT };
    if (m != NULL && m->rest.until_us > query->now_us)
        return m->rest;
    if (!state->has_due)
        return (struct partition_rest){ .until_us = state->scheduled_us, .reason = WAIT_DUE };
    return (struct partition_rest){ .reason = WAIT_SLOT };
}

struct partition_rest partitions_rest(struct partitions *partitions,
                                      const struct partition_query *query)
{
    struct partition_rest first = { .reason = WAIT_DUE };

    pthread_mutex_lock(&partitions->lock);
    for (size_t i = 0; i < query->partitions->count; i++) {
        const struct partition_state *state = &query->partitions->items[i];
        struct partition_rest rest;

        if (!query->wanted(query->context, &state->partition) ||
            pause_list_has(query->pauses, state->partition.source, state->partition.endpoint))
            continue;
        rest = rest_of(partitions, query, state);
        if (rest.until_us == 0 && first.until_us == 0)
            first.reason = rest.reason;
        else if (rest.until_us > 0 && (first.until_us == 0 || rest.until_us < first.until_us))
            first = (struct partition_rest){ rest.until_us, rest.reason, &state->partition };
    }
    pthread_mutex_unlock(&partitions->lock);
    return first;
}

/* ---- what is learned ---- */

void partitions_note_rest(struct partitions *partitions, const struct task_partition *partition,
                          const struct partition_rest *rest)
{
    struct entry *m;

    pthread_mutex_lock(&partitions->lock);
    m = entry_of(partitions, partition);
    if (m != NULL && rest->until_us > m->rest.until_us)
        m->rest = *rest;
    pthread_mutex_unlock(&partitions->lock);
}

void partitions_end_rests(struct partitions *partitions)
{
    pthread_mutex_lock(&partitions->lock);
    for (struct entry *m = partitions->entries; m != NULL; m = m->next)
        m->rest = (struct partition_rest){ 0 };
    pthread_mutex_unlock(&partitions->lock);
}

void partitions_learn(struct partitions *partitions, const struct task_partition *partition,
                      const struct partition_rules *rules)
{
    struct entry *m;

    pthread_mutex_lock(&partitions->lock);
    m = entry_of(partitions, partition);
    if (m != NULL) {
        m->rules = *rules;
        m->is_known = true;
    }
    pthread_mutex_unlock(&partitions->lock);
}

bool partitions_know(struct partitions *partitions, const struct task_partition *partition)
{
    const struct entry *m;
    bool knows;

    pthread_mutex_lock(&partitions->lock);
    m = entry_of(partitions, partition);
    knows = m == NULL || m->is_known;
    pthread_mutex_unlock(&partitions->lock);
    return knows;
}

bool partitions_note(struct partitions *partitions, const struct task_partition *partition,
                     const struct health_sample *sample)
{
    bool is_open = false;
    struct entry *m;

    pthread_mutex_lock(&partitions->lock);
    m = entry_of(partitions, partition);
    if (m != NULL) {
        health_note(&m->health, &m->rules.health, sample);
        is_open = health_is_open(&m->health, sample->now_us);
    }
    pthread_mutex_unlock(&partitions->lock);
    return is_open;
}
