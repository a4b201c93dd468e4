/* What must be true of the effects, whatever happened. */
#include <stdio.h>
#include <string.h>

#include "consume_world.h"
#include "contract.h"
#include "core/lane.h"
#include "port/store_parked.h"

struct truth {
    bool is_dead[KEYS][VERSIONS_MAX];
    int resets[KEYS];
    int times[KEYS][VERSIONS_MAX];
    struct effect_list effects;
};

static void gather(const struct reader_world *w, struct truth *t)
{
    struct letter_list letters;
    struct error err = { 0 };

    memset(t, 0, sizeof(*t));
    REQUIRE_OK(store_parked_letters(w->store, contract_arena(),
                                    &(struct letter_query){
                                        .key = READER_KEY, .has_redriven = true, .limit = 100000 },
                                    &letters, &err),
               err);
    for (size_t i = 0; i < letters.count; i++) {
        const struct letter *letter = &letters.items[i];

        t->is_dead[reader_key_number(letter->dead.aggregate_id)][letter->dead.version] =
            !letter->is_redriven;
    }
    for (int key = 0; key < KEYS; key++) {
        char id[16];

        (void)snprintf(id, sizeof(id), "k%05d", key);
        for (int i = 0; i < w->seek_count; i++)
            t->resets[key] += w->seeks[i].lane == lane_of(STR("works"), str_of(id));
    }
    t->effects = effect_log_read(w->store, contract_arena());
}

/* Of a key that was redriven, or whose lane was reset, the order and the number are not its
 * versions' own. */
static const char *judge_effects(const struct consume_world *own, struct truth *t)
{
    const struct reader_world *w = &own->world;
    int64_t latest[KEYS] = { 0 };

    for (size_t i = 0; i < t->effects.count; i++) {
        const struct effect *e = &t->effects.items[i];
        const int key = reader_key_number(e->aggregate_id);
        const bool is_plain =
            !own->is_redriven[key] && !w->was_left_out[key] && t->resets[key] == 0;

        if (e->version < 1 || e->version > w->versions[key])
            return "an event that nobody wrote";
        if (w->is_left_out[key][e->version] && !own->is_redriven[key])
            return "an event took effect that was left out";
        if (is_plain && t->times[key][e->version] > 0)
            return "an event took effect twice";
        if (is_plain && e->version < latest[key])
            return "a version after a later one";
        if (is_plain && t->is_dead[key][e->version])
            return "a dead letter took effect";
        t->times[key][e->version]++;
        latest[key] = e->version;
    }
    for (int key = 0; key < KEYS; key++) {
        for (int64_t v = 1; v <= w->versions[key]; v++) {
            if (t->times[key][v] == 0 && !t->is_dead[key][v] && !w->is_left_out[key][v])
                return "an event was lost";
        }
    }
    return NULL;
}

static bool came_since(const struct truth *t, int key, int64_t version, size_t since)
{
    for (size_t i = since; i < t->effects.count; i++) {
        const struct effect *e = &t->effects.items[i];

        if (reader_key_number(e->aggregate_id) == key && e->version == version)
            return true;
    }
    return false;
}

static const char *judge_seeks(const struct reader_world *w, const struct truth *t)
{
    for (int i = 0; i < w->seek_count; i++) {
        struct stream_event_list list;

        if (w->seeks[i].lane < 0)
            continue;
        list = reader_lane_events(w, w->seeks[i].lane);
        for (size_t k = 0; k < list.count; k++) {
            const struct stored_event *stored = &list.items[k].stored;
            const int key = reader_key_number(stored->provider_id);

            if (!came_since(t, key, stored->event.version, w->seeks[i].came) &&
                !t->is_dead[key][stored->event.version])
                return "an event did not come again after a seek";
        }
    }
    return NULL;
}

const char *consume_world_judge(const struct consume_world *w)
{
    static struct truth t;
    const char *wrong;

    gather(&w->world, &t);
    wrong = judge_effects(w, &t);
    return wrong != NULL ? wrong : judge_seeks(&w->world, &t);
}
