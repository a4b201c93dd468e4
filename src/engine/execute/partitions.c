#include "engine/execute/partitions.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/turn.h"

struct member {
    struct member *next;
    char *source; /* both texts in one allocation */
    char *endpoint;
    enum operation operation;
    struct health health;
    struct crew_rules rules;
    bool is_known;
    int64_t last_turn;
    struct crew_rest rest; /* the latest that was asked for */
};

struct crew {
    pthread_mutex_t lock;
    struct member *members;
    size_t count;
    int64_t turns;
};

bool crew_open(struct crew **out, struct error *err)
{
    struct crew *crew = calloc(1, sizeof(*crew));

    *out = crew;
    if (crew == NULL || pthread_mutex_init(&crew->lock, NULL) != 0) {
        free(crew);
        *out = NULL;
        return error_set(err, ERROR_TRANSIENT, "memory.system", "no memory for a crew");
    }
    return true;
}

void crew_close(struct crew *crew)
{
    struct member *next;

    if (crew == NULL)
        return;
    for (struct member *m = crew->members; m != NULL; m = next) {
        next = m->next;
        free(m->source);
        free(m);
    }
    pthread_mutex_destroy(&crew->lock);
    free(crew);
}

/* ---- members; the lock is held ---- */

static bool is_of(const struct member *m, const struct task_partition *p)
{
    return m->operation == p->operation && str_eq(str_of(m->source), p->source) &&
           str_eq(str_of(m->endpoint), p->endpoint);
}

static struct member *add_member(struct crew *crew, const struct task_partition *p)
{
    struct member *m = calloc(1, sizeof(*m));
    char *texts = m != NULL ? malloc(p->source.len + p->endpoint.len + 2) : NULL;

    if (texts == NULL || crew->count >= CREW_PARTITIONS_MAX) {
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
    m->next = crew->members;
    crew->members = m;
    crew->count++;
    return m;
}

/* NULL where memory is short: the partition is then served without being remembered. */
static struct member *member_of(struct crew *crew, const struct task_partition *p)
{
    for (struct member *m = crew->members; m != NULL; m = m->next) {
        if (is_of(m, p))
            return m;
    }
    return add_member(crew, p);
}

/* ---- turns ---- */

static struct turn turn_of(struct crew *crew, const struct crew_ask *ask,
                           const struct partition_state *state)
{
    const struct member *m = member_of(crew, &state->partition);
    struct turn turn = {
        .may_run = state->has_due && ask->wanted(ask->context, &state->partition) &&
                   !pause_list_has(ask->pauses, state->partition.source, state->partition.endpoint),
        .priority = state->priority,
        .live = state->live,
        .live_max = CREW_RUNNING_MAX,
    };

    if (m == NULL)
        return turn;
    turn.last = m->last_turn;
    turn.may_run =
        turn.may_run && !health_is_open(&m->health, ask->now_us) && m->rest.until_us <= ask->now_us;
    turn.live_max = health_live_max(
        &m->health, &m->rules.health,
        m->rules.running_max > 0 ? m->rules.running_max : CREW_RUNNING_MAX, ask->now_us);
    return turn;
}

/* Found one by one, so that no list of turns has to be kept: choosing among two is transitive. */
static struct crew_choice choose(struct crew *crew, const struct crew_ask *ask)
{
    struct crew_choice choice = { 0 };
    struct turn pair[2];

    for (size_t i = 0; i < ask->partitions->count; i++) {
        const struct partition_state *state = &ask->partitions->items[i];
        const size_t best = choice.partition != NULL ? 1 : 0;

        pair[best] = turn_of(crew, ask, state);
        if (turn_choose(pair, best + 1) != best)
            continue;
        pair[0] = pair[best];
        choice = (struct crew_choice){ .partition = state, .live_max = pair[0].live_max };
    }
    return choice;
}

struct crew_choice crew_choose(struct crew *crew, const struct crew_ask *ask)
{
    struct crew_choice choice;
    struct member *m;

    pthread_mutex_lock(&crew->lock);
    choice = choose(crew, ask);
    if (choice.partition != NULL && (m = member_of(crew, &choice.partition->partition)) != NULL)
        m->last_turn = ++crew->turns;
    pthread_mutex_unlock(&crew->lock);
    return choice;
}

/* Of one partition. */
static struct crew_rest rest_of(struct crew *crew, const struct crew_ask *ask,
                                const struct partition_state *state)
{
    const struct member *m = member_of(crew, &state->partition);

    if (m != NULL && health_is_open(&m->health, ask->now_us))
        return (struct crew_rest){ m->health.open_until_us, WAIT_CIRCUIT };
    if (m != NULL && m->rest.until_us > ask->now_us)
        return m->rest;
    if (!state->has_due)
        return (struct crew_rest){ state->scheduled_us, WAIT_DUE };
    return (struct crew_rest){ 0, WAIT_SLOT };
}

struct crew_rest crew_rest_of(struct crew *crew, const struct crew_ask *ask)
{
    struct crew_rest first = { 0, WAIT_DUE };

    pthread_mutex_lock(&crew->lock);
    for (size_t i = 0; i < ask->partitions->count; i++) {
        const struct partition_state *state = &ask->partitions->items[i];
        struct crew_rest rest;

        if (!ask->wanted(ask->context, &state->partition) ||
            pause_list_has(ask->pauses, state->partition.source, state->partition.endpoint))
            continue;
        rest = rest_of(crew, ask, state);
        if (rest.until_us == 0 && first.until_us == 0)
            first.why = rest.why;
        else if (rest.until_us > 0 && (first.until_us == 0 || rest.until_us < first.until_us))
            first = rest;
    }
    pthread_mutex_unlock(&crew->lock);
    return first;
}

/* ---- what is learned ---- */

void crew_rest_note(struct crew *crew, const struct task_partition *partition,
                    const struct crew_rest *rest)
{
    struct member *m;

    pthread_mutex_lock(&crew->lock);
    m = member_of(crew, partition);
    if (m != NULL && rest->until_us > m->rest.until_us)
        m->rest = *rest;
    pthread_mutex_unlock(&crew->lock);
}

void crew_learn(struct crew *crew, const struct task_partition *partition,
                const struct crew_rules *rules)
{
    struct member *m;

    pthread_mutex_lock(&crew->lock);
    m = member_of(crew, partition);
    if (m != NULL) {
        m->rules = *rules;
        m->is_known = true;
    }
    pthread_mutex_unlock(&crew->lock);
}

bool crew_knows(struct crew *crew, const struct task_partition *partition)
{
    const struct member *m;
    bool knows;

    pthread_mutex_lock(&crew->lock);
    m = member_of(crew, partition);
    knows = m == NULL || m->is_known;
    pthread_mutex_unlock(&crew->lock);
    return knows;
}

bool crew_note(struct crew *crew, const struct task_partition *partition,
               const struct health_sample *sample)
{
    bool is_open = false;
    struct member *m;

    pthread_mutex_lock(&crew->lock);
    m = member_of(crew, partition);
    if (m != NULL) {
        health_note(&m->health, &m->rules.health, sample);
        is_open = health_is_open(&m->health, sample->now_us);
    }
    pthread_mutex_unlock(&crew->lock);
    return is_open;
}
