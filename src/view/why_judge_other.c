/* What else may have been meant: an id in another case, of another source, of another service. */
#include <inttypes.h>

#include "view/why_internal.h"

/* ---- other ids ---- */

static struct str why_other(struct arena *arena, const struct record_key *key)
{
    return arena_printf(
        arena, "patra why %.*s %.*s --endpoint %.*s", STR_ARG(why_word(arena, key->source)),
        STR_ARG(why_word(arena, key->provider_id)), STR_ARG(why_word(arena, key->endpoint)));
}

bool why_judge_case(struct view_why *why, struct arena *arena, struct error *err)
{
    for (size_t i = 0; i < why->alike.count; i++) {
        const struct record_key *key = &why->alike.items[i];
        const struct why_finding finding = {
            .step = WHY_ID,
            .reason = STR("id.case"),
            .text = arena_printf(arena, "%.*s/%.*s has %.*s, which differs only in case",
                                 STR_ARG(key->source), STR_ARG(key->endpoint),
                                 STR_ARG(key->provider_id)),
            .command = why_other(arena, key),
        };

        if (str_eq(key->source, why->key.source) && !str_eq(key->provider_id, why->key.provider_id))
            return why_find(why, arena, &finding, err);
    }
    return true;
}

bool why_judge_others(struct view_why *why, struct arena *arena, struct error *err)
{
    for (size_t i = 0; i < why->alike.count; i++) {
        const struct record_key *key = &why->alike.items[i];
        const bool is_same = str_eq(key->provider_id, why->key.provider_id);
        const struct why_finding finding = {
            .step = WHY_ID,
            .reason = STR("id.source"),
            .text = arena_printf(arena, "%.*s/%.*s has a record %.*s", STR_ARG(key->source),
                                 STR_ARG(key->endpoint),
                                 STR_ARG(is_same ? STR("of this id") : key->provider_id)),
            .command = why_other(arena, key),
        };

        if (!str_eq(key->source, why->key.source) && !why_find(why, arena, &finding, err))
            return false;
    }
    return true;
}

/* ---- foreign outboxes ---- */

static void describe_refused(const struct view_why *why, const struct why_import *import,
                             struct arena *arena, struct why_finding *finding)
{
    finding->reason = STR("import.refused");
    finding->text = arena_printf(arena,
                                 "the foreign outbox %.*s has a row of version %" PRId64
                                 " that cannot be an event, and "
                                 "later ones wait for it: %.*s. Correct the row first",
                                 STR_ARG(import->subscription.name), import->parked.head_version,
                                 STR_ARG(import->parked.last_error));
    finding->command =
        arena_printf(arena, "patra outbox retry %.*s %.*s", STR_ARG(import->subscription.name),
                     STR_ARG(why_word(arena, why->key.provider_id)));
}

/* It does not go on by itself. */
static bool describe_held(const struct why_import *import, struct arena *arena,
                          struct why_finding *finding)
{
    const struct subscription *subscription = &import->subscription;
    const struct str name = subscription->name;

    if (subscription->state != SUBSCRIPTION_ACTIVE) {
        finding->reason = STR("import.paused");
        finding->text = arena_printf(arena, "nothing is imported from %.*s: %.*s", STR_ARG(name),
                                     STR_ARG(subscription->state_reason));
        finding->command = arena_printf(arena, "patra outbox resume %.*s", STR_ARG(name));
    } else if (import->error.len > 0) {
        finding->reason = STR("import.error");
        finding->text = arena_printf(arena, "the import from %.*s cannot go on: %.*s",
                                     STR_ARG(name), STR_ARG(import->error));
        finding->command = STR("patra outbox import list");
    } else if (import->readers == 0) {
        finding->reason = STR("import.idle");
        finding->text =
            arena_printf(arena, "nobody imports from %.*s: a row of it may wait", STR_ARG(name));
        finding->command = STR("patra publish --once");
    }
    return finding->reason.len > 0;
}

static bool judge_import(struct view_why *why, const struct why_import *import, struct arena *arena,
                         struct error *err)
{
    struct why_finding finding = { .step = WHY_IMPORT };

    if (import->is_parked)
        describe_refused(why, import, arena, &finding);
    else if (why->has_record || !describe_held(import, arena, &finding))
        return true;
    return why_find(why, arena, &finding, err);
}

bool why_judge_imports(struct view_why *why, struct arena *arena, struct error *err)
{
    const struct why_finding silent = {
        .step = WHY_IMPORT,
        .reason = STR("import.silent"),
        .text = arena_printf(arena,
                             "no event of %.*s %.*s was imported, and none waits: the service has "
                             "not written one",
                             STR_ARG(why->key.source), STR_ARG(why->key.provider_id)),
        .command = STR("patra outbox import list"),
    };

    for (size_t i = 0; i < why->imports.count; i++) {
        if (!judge_import(why, &why->imports.items[i], arena, err))
            return false;
    }
    if (!why->is_foreign || why->has_record || why->findings.count > 0)
        return true;
    return why_find(why, arena, &silent, err) && why_judge_others(why, arena, err);
}
