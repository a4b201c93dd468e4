/* The outbox: gathered from the stream, the subscriptions and their lanes, and written as JSON. */
#include "view/outbox.h"

#include "port/store_rate.h"

/* ---- the stream ---- */

/* Ids between horizon and cursor that are not in the stream. */
static bool count_gaps(const struct view_reader *reader, struct view_outbox *outbox,
                       struct error *err)
{
    const struct stream_status *stream = &outbox->stream;
    struct stream_ids ids;

    outbox->gap_ids = stream->cursor_id - stream->horizon_id;
    if (outbox->gap_ids == 0)
        return true;
    if (!store_stream_taken(reader->store, reader->arena, stream->horizon_id, &ids, err))
        return false;
    for (size_t i = 0; i < ids.count; i++)
        outbox->gap_ids -= ids.items[i] > stream->horizon_id && ids.items[i] <= stream->cursor_id;
    return true;
}

static bool read_stream(const struct view_reader *reader, struct view_outbox *outbox,
                        struct error *err)
{
    struct stream_status *stream = &outbox->stream;

    if (!store_clock(reader->store, reader->now_us, &outbox->now_us, err) ||
        !store_stream_status(reader->store, reader->arena, stream, err) ||
        !count_gaps(reader, outbox, err))
        return false;
    if (stream->has_oldest && outbox->now_us > stream->oldest_us)
        outbox->lag_us = outbox->now_us - stream->oldest_us;
    outbox->is_leased = stream->lease_owner.len > 0 && stream->leased_until_us > outbox->now_us;
    return true;
}

/* ---- subscriptions ---- */

static bool add_owner(struct arena *arena, struct view_owner_list *owners, struct str owner,
                      struct error *err)
{
    struct view_owner *place = NULL;

    for (size_t i = 0; i < owners->count && place == NULL; i++) {
        if (str_eq(owners->items[i].owner, owner))
            place = &owners->items[i];
    }
    if (place == NULL)
        place = LIST_ADD(arena, owners);
    if (place == NULL)
        return arena_error(arena, err);
    place->owner = owner;
    place->lanes++;
    return true;
}

static bool add_lanes(const struct view_reader *reader, const struct offset_state_list *lanes,
                      int64_t now_us, struct view_subscription *s, struct error *err)
{
    for (size_t i = 0; i < lanes->count; i++) {
        const struct offset_state *lane = &lanes->items[i];

        s->waiting += lane->last_pos > lane->pos ? lane->last_pos - lane->pos : 0;
        if (lane->has_next && now_us - lane->next_us > s->lag_us)
            s->lag_us = now_us - lane->next_us;
        s->lanes_crashed += lane->crashes > 0;
        if (lane->owner.len > 0 && lane->leased_until_us >= now_us &&
            !add_owner(reader->arena, &s->owners, lane->owner, err))
            return false;
    }
    return true;
}

/* Those whose sign has run out are not there. */
static void keep_alive(struct view_subscription *s, int64_t now_us)
{
    size_t kept = 0;

    for (size_t i = 0; i < s->readers.count; i++) {
        if (s->readers.items[i].alive_until_us >= now_us)
            s->readers.items[kept++] = s->readers.items[i];
    }
    s->readers.count = kept;
    for (size_t i = 0; i < kept && s->trouble == NULL; i++) {
        if (s->readers.items[i].error.len > 0)
            s->trouble = &s->readers.items[i];
    }
}

static bool read_subscription(const struct view_reader *reader, int64_t now_us,
                              struct view_subscription *s, struct error *err)
{
    const struct offset_key key = { SUBSCRIPTION_GROUP, s->subscription.name };
    struct offset_state_list lanes = { 0 };

    if (s->subscription.kind != SUBSCRIPTION_IMPORT &&
        !store_offset_states(reader->store, reader->arena, &key, &lanes, err))
        return false;
    if (!store_offset_readers(reader->store, reader->arena, &key, &s->readers, err) ||
        !store_parked_count(reader->store, &key, &s->parked, err) ||
        !store_parked_behind(reader->store, &key, &s->behind, err) ||
        !store_parked_letter_count(reader->store, &key, &s->dead, err))
        return false;
    keep_alive(s, now_us);
    return add_lanes(reader, &lanes, now_us, s, err);
}

bool view_outbox(const struct view_reader *reader, struct view_outbox *outbox, struct error *err)
{
    struct subscription_list list;

    *outbox = (struct view_outbox){ 0 };
    if (!read_stream(reader, outbox, err) ||
        !store_subscription_list(reader->store, reader->arena, &list, err))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        struct view_subscription *s = LIST_ADD(reader->arena, &outbox->subscriptions);

        if (s == NULL)
            return arena_error(reader->arena, err);
        s->subscription = list.items[i];
        if (!read_subscription(reader, outbox->now_us, s, err))
            return false;
    }
    return true;
}

/* ---- parked keys ---- */

bool view_subscription_check(const struct view_reader *reader, struct str name, struct error *err)
{
    struct subscription subscription;
    bool found;

    if (!store_subscription_find(reader->store, reader->arena, name, &subscription, &found, err))
        return false;
    return found || error_set(err, ERROR_REQUEST, "subscription.unknown",
                              "there is no subscription %.*s: patra outbox status lists them",
                              STR_ARG(name));
}

static bool add_parked(const struct view_reader *reader, struct str name, int64_t limit,
                       struct view_parked_list *list, struct error *err)
{
    const struct parked_query query = { { SUBSCRIPTION_GROUP, name }, STR(""), limit };
    struct view_parked *parked = LIST_ADD(reader->arena, list);

    if (parked == NULL)
        return arena_error(reader->arena, err);
    parked->subscription = name;
    if (!store_parked_list(reader->store, reader->arena, &query, &parked->keys, err))
        return false;
    parked->is_full = (int64_t)parked->keys.count == limit;
    if (parked->keys.count == 0)
        list->count--;
    return true;
}

bool view_parked(const struct view_reader *reader, int64_t limit, struct view_parked_list *list,
                 struct error *err)
{
    struct subscription_list all;

    *list = (struct view_parked_list){ 0 };
    if (!store_subscription_list(reader->store, reader->arena, &all, err))
        return false;
    for (size_t i = 0; i < all.count; i++) {
        if (!add_parked(reader, all.items[i].name, limit, list, err))
            return false;
    }
    return true;
}

/* ---- JSON ---- */

static void write_readers(struct json_writer *w, const struct view_subscription *s)
{
    json_write_name(w, STR("owners"));
    json_write_array(w);
    for (size_t i = 0; i < s->owners.count; i++) {
        json_write_object(w);
        json_write_member_str(w, STR("owner"), s->owners.items[i].owner);
        json_write_member_i64(w, STR("lanes"), s->owners.items[i].lanes);
        json_write_end(w);
    }
    json_write_end(w);
    json_write_member_i64(w, STR("readers"), (int64_t)s->readers.count);
    if (s->trouble == NULL)
        return;
    json_write_member_str(w, STR("error"), s->trouble->error);
    json_write_member_instant(w, STR("errorSince"), s->trouble->error_since_us);
}

static void write_subscription(struct json_writer *w, const struct view_subscription *s)
{
    const struct subscription *applied = &s->subscription;

    json_write_object(w);
    json_write_member_str(w, STR("name"), applied->name);
    json_write_member_str(w, STR("kind"), code_of(&SUBSCRIPTION_KIND_CODES, (int)applied->kind));
    json_write_member_str(w, STR("state"), code_of(&SUBSCRIPTION_STATE_CODES, (int)applied->state));
    if (applied->state_reason.len > 0)
        json_write_member_str(w, STR("stateReason"), applied->state_reason);
    json_write_member_str(w, STR("policy"),
                          code_of(&SUBSCRIPTION_POLICY_CODES, (int)applied->policy));
    json_write_member_i64(w, STR("waiting"), s->waiting);
    json_write_member_i64(w, STR("lagUs"), s->lag_us);
    json_write_member_i64(w, STR("parkedKeys"), s->parked);
    json_write_member_i64(w, STR("versionsBehind"), s->behind);
    json_write_member_i64(w, STR("deadLetters"), s->dead);
    json_write_member_i64(w, STR("crashedLanes"), s->lanes_crashed);
    write_readers(w, s);
    json_write_end(w);
}

static void write_stream(struct json_writer *w, const struct view_outbox *outbox)
{
    const struct stream_status *stream = &outbox->stream;

    json_write_member_i64(w, STR("lastId"), stream->last_id);
    json_write_member_i64(w, STR("cursorId"), stream->cursor_id);
    json_write_member_i64(w, STR("horizonId"), stream->horizon_id);
    json_write_member_i64(w, STR("gapIds"), outbox->gap_ids);
    json_write_member_i64(w, STR("waiting"), stream->waiting);
    json_write_member_i64(w, STR("lagUs"), outbox->lag_us);
    json_write_member_i64(w, STR("leaseEpoch"), stream->epoch);
    if (stream->lease_owner.len > 0) {
        json_write_member_str(w, STR("leaseOwner"), stream->lease_owner);
        json_write_member_instant(w, STR("leasedUntil"), stream->leased_until_us);
    }
    json_write_name(w, STR("lanes"));
    json_write_array(w);
    for (int i = 0; i < OUTBOX_LANES; i++)
        json_write_i64(w, stream->last_pos[i]);
    json_write_end(w);
}

void view_outbox_write(struct json_writer *w, const struct view_outbox *outbox)
{
    json_write_object(w);
    write_stream(w, outbox);
    json_write_name(w, STR("subscriptions"));
    json_write_array(w);
    for (size_t i = 0; i < outbox->subscriptions.count; i++)
        write_subscription(w, &outbox->subscriptions.items[i]);
    json_write_end(w);
    json_write_end(w);
}

static void write_parked(struct json_writer *w, struct str name, const struct parked *parked)
{
    json_write_object(w);
    json_write_member_str(w, STR("subscription"), name);
    json_write_member_str(w, STR("aggregateType"), parked->aggregate_type);
    json_write_member_str(w, STR("aggregateId"), parked->aggregate_id);
    json_write_member_i64(w, STR("lane"), parked->lane);
    json_write_member_i64(w, STR("headVersion"), parked->head_version);
    json_write_member_i64(w, STR("seenVersion"), parked->seen_version);
    json_write_member_str(w, STR("policy"),
                          code_of(&SUBSCRIPTION_POLICY_CODES, (int)parked->policy));
    json_write_member_i64(w, STR("attempts"), parked->attempts_begun);
    json_write_member_i64(w, STR("attemptsLost"), parked->attempts_begun - parked->attempts_ended);
    json_write_member_instant(w, STR("since"), parked->parked_us);
    json_write_member_instant(w, STR("nextRetry"), parked->next_retry_us);
    json_write_member_str(w, STR("error"), parked->last_error);
    json_write_end(w);
}

void view_parked_write(struct json_writer *w, const struct view_parked_list *list)
{
    json_write_array(w);
    for (size_t i = 0; i < list->count; i++) {
        for (size_t k = 0; k < list->items[i].keys.count; k++)
            write_parked(w, list->items[i].subscription, &list->items[i].keys.items[k]);
    }
    json_write_end(w);
}
