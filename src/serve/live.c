/* What has changed, for pages that are open. */
#include "serve/live.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/instant.h"
#include "port/store_cursor.h"
#include "port/store_pause.h"
#include "port/store_registry.h"
#include "port/store_status.h"
#include "port/store_stream.h"
#include "port/store_subscription.h"

enum { RUNNING_SEEN = 100 };
#define LOOK_BYTES_MAX ((size_t)16 << 20)

struct live_client {
    struct web_stream stream; /* first */
    struct api *api;
    int64_t seen;
    bool has_begun;
    int64_t said_us; /* monotonic */
};

void live_init(struct live *live)
{
    *live = (struct live){ 0 };
    (void)pthread_mutex_init(&live->lock, NULL);
}

void live_release(struct live *live)
{
    (void)pthread_mutex_destroy(&live->lock);
}

int64_t live_version(struct live *live)
{
    int64_t version;

    (void)pthread_mutex_lock(&live->lock);
    version = live->version;
    (void)pthread_mutex_unlock(&live->lock);
    return version;
}

/* ---- the digest ---- */

static void add_number(struct hash *hash, int64_t number)
{
    hash_add(hash, (struct str){ (const char *)&number, sizeof(number) });
}

static bool add_source(struct hash *hash, struct store *store, struct arena *arena,
                       struct str source, int64_t since_us, struct error *err)
{
    struct partition_count_list counts;
    struct task_list running;

    if (!store_status_counts(store, arena, source, since_us, &counts, err) ||
        !store_status_running(store, arena, source, RUNNING_SEEN, &running, err))
        return false;
    hash_add(hash, source);
    for (size_t i = 0; i < counts.count; i++) {
        add_number(hash, counts.items[i].queued);
        add_number(hash, counts.items[i].running);
        for (int k = 0; k < TASK_STATUS_COUNT; k++)
            add_number(hash, counts.items[i].ended[k]);
    }
    for (size_t i = 0; i < running.count; i++) {
        add_number(hash, running.items[i].id);
        add_number(hash, running.items[i].leased_until_us);
    }
    return true;
}

static bool add_work(struct hash *hash, struct store *store, struct arena *arena, int64_t now_us,
                     struct error *err)
{
    const int64_t day_us = instant_floor(now_us, US_PER_DAY); /* does not move by itself */
    struct registry_entry_list sources;
    struct cursor_list cursors;
    struct pause_list pauses;

    if (!store_registry_list(store, arena, now_us, &sources, err) ||
        !store_cursor_list(store, arena, STR(""), &cursors, err) ||
        !store_pause_list(store, arena, STR(""), &pauses, err))
        return false;
    for (size_t i = 0; i < sources.count; i++) {
        if (!add_source(hash, store, arena, sources.items[i].code, day_us, err))
            return false;
    }
    for (size_t i = 0; i < cursors.count; i++)
        add_number(hash, cursors.items[i].version);
    for (size_t i = 0; i < pauses.count; i++)
        add_number(hash, pauses.items[i].created_us);
    return true;
}

static bool add_events(struct hash *hash, struct store *store, struct arena *arena,
                       struct error *err)
{
    struct subscription_list subscriptions;
    struct stream_status stream;

    if (!store_stream_status(store, arena, &stream, err) ||
        !store_subscription_list(store, arena, &subscriptions, err))
        return false;
    add_number(hash, stream.cursor_id);
    add_number(hash, stream.last_id);
    for (size_t i = 0; i < subscriptions.count; i++)
        add_number(hash, subscriptions.items[i].updated_us);
    return true;
}

static bool make_digest(struct api *api, int seat, struct hash_sum *digest, struct error *err)
{
    struct store *store;
    struct arena arena;
    struct hash hash;
    bool ok;

    if (!api_seat_store(api, seat, &store, err))
        return false;
    arena_init(&arena, LOOK_BYTES_MAX);
    hash_init(&hash);
    ok = add_work(&hash, store, &arena, clock_now_us(api_settings(api)->clock), err) &&
         add_events(&hash, store, &arena, err) && hash_end(&hash, digest, err);
    hash_release(&hash);
    arena_release(&arena);
    if (!ok)
        api_seat_failed(api, seat, err);
    return ok;
}

/* ---- one look for all ---- */

static bool begin_look(struct live *live, int64_t now_us)
{
    bool begins;

    (void)pthread_mutex_lock(&live->lock);
    begins = !live->is_looking && (!live->has_digest || now_us - live->looked_us >= LIVE_LOOK_US);
    if (begins)
        live->is_looking = true;
    (void)pthread_mutex_unlock(&live->lock);
    return begins;
}

/* A store out of reach is no change: the next look is made in time. */
static void look(struct live *live, struct api *api, int seat, int64_t now_us)
{
    struct hash_sum digest;
    struct error err;
    bool ok;

    if (!begin_look(live, now_us))
        return;
    ok = make_digest(api, seat, &digest, &err);
    (void)pthread_mutex_lock(&live->lock);
    if (ok && (!live->has_digest || memcmp(&digest, &live->digest, sizeof(digest)) != 0)) {
        live->digest = digest;
        live->version++;
        live->has_digest = true;
    }
    live->looked_us = now_us;
    live->is_looking = false;
    (void)pthread_mutex_unlock(&live->lock);
}

/* ---- one client ---- */

static bool more(struct web_stream *stream, int seat, struct buf *out, bool *is_end,
                 struct error *err)
{
    struct live_client *client = (struct live_client *)stream;
    struct live *live = api_live(client->api);
    const int64_t now_us = clock_monotonic_us(api_settings(client->api)->clock);
    int64_t version;

    (void)err;
    *is_end = false;
    look(live, client->api, seat, now_us);
    version = live_version(live);
    if (!client->has_begun)
        buf_add(out, STR("retry: 5000\n\n"));
    if (version != client->seen)
        buf_printf(out, "event: change\ndata: %" PRId64 "\n\n", version);
    else if (client->has_begun && now_us - client->said_us >= LIVE_IDLE_US)
        buf_add(out, STR(":\n\n"));
    client->seen = version;
    client->has_begun = true;
    if (out->len > 0)
        client->said_us = now_us;
    return true;
}

static void close_client(struct web_stream *stream)
{
    struct live *live = api_live(((struct live_client *)stream)->api);

    (void)pthread_mutex_lock(&live->lock);
    live->clients--;
    (void)pthread_mutex_unlock(&live->lock);
}

bool live_open(struct call *call, int64_t seen, struct error *err)
{
    struct live_client *client = ARENA_NEW(call->reader.arena, struct live_client);
    struct live *live = api_live(call->api);
    bool is_full;

    if (client == NULL)
        return arena_error(call->reader.arena, err);
    (void)pthread_mutex_lock(&live->lock);
    is_full = live->clients >= LIVE_CLIENTS_MAX;
    if (!is_full)
        live->clients++;
    (void)pthread_mutex_unlock(&live->lock);
    if (is_full)
        return error_set(err, ERROR_TRANSIENT, "live.full",
                         "%d clients listen already; load the page again instead",
                         LIVE_CLIENTS_MAX);
    *client =
        (struct live_client){ .stream = { more, close_client }, .api = call->api, .seen = seen };
    call->response->stream = &client->stream;
    return true;
}
