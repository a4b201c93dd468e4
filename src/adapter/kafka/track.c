/* Bookkeeping of one partition's deliveries. */
#include "adapter/kafka/track.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void track_init(struct track *track)
{
    *track = (struct track){ .next = -1 };
}

void track_release(struct track *track)
{
    free(track->entries);
    *track = (struct track){ .next = -1 };
}

void track_reset(struct track *track)
{
    track->count = 0;
    track->out_count = 0;
    track->out_bytes = 0;
    track->next = -1;
}

/* The place of the first entry that is not below the offset. */
static size_t place_of(const struct track *track, int64_t offset)
{
    size_t low = 0, high = track->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (track->entries[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct track_entry *find(const struct track *track, int64_t offset)
{
    const size_t at = place_of(track, offset);

    return at < track->count && track->entries[at].offset == offset ? &track->entries[at] : NULL;
}

bool track_wants(const struct track *track, int64_t offset)
{
    const struct track_entry *entry = find(track, offset);

    if (track->next >= 0 && offset < track->next)
        return false;
    return entry == NULL || !entry->is_acked;
}

static bool make_room(struct track *track)
{
    const size_t capacity = track->capacity == 0 ? 64 : track->capacity * 2;
    struct track_entry *entries;

    if (track->count < track->capacity)
        return true;
    entries = realloc(track->entries, capacity * sizeof(*entries));
    if (entries == NULL)
        return false;
    track->entries = entries;
    track->capacity = capacity;
    return true;
}

bool track_deliver(struct track *track, int64_t offset, size_t bytes)
{
    const size_t at = place_of(track, offset);
    struct track_entry *entry = find(track, offset);

    if (entry == NULL) {
        if (!make_room(track))
            return false;
        entry = &track->entries[at];
        memmove(entry + 1, entry, (track->count - at) * sizeof(*entry));
        track->count++;
        *entry = (struct track_entry){ .offset = offset, .bytes = bytes };
    }
    assert(!entry->is_acked);
    if (!entry->is_out) {
        entry->is_out = true;
        track->out_count++;
        track->out_bytes += entry->bytes;
    }
    if (track->next < 0)
        track->next = offset;
    return true;
}

static void take_in(struct track *track, struct track_entry *entry)
{
    if (!entry->is_out)
        return;
    entry->is_out = false;
    track->out_count--;
    track->out_bytes -= entry->bytes;
}

bool track_ack(struct track *track, int64_t offset)
{
    struct track_entry *entry = find(track, offset);

    if (entry == NULL)
        return false;
    take_in(track, entry);
    entry->is_acked = true;
    return true;
}

bool track_nack(struct track *track, int64_t offset)
{
    struct track_entry *entry = find(track, offset);

    if (entry == NULL || entry->is_acked)
        return false;
    take_in(track, entry);
    return true;
}

bool track_advance(struct track *track)
{
    const int64_t before = track->next;
    size_t done = 0;

    while (done < track->count && track->entries[done].is_acked)
        track->next = track->entries[done++].offset + 1;
    if (done > 0)
        memmove(track->entries, track->entries + done,
                (track->count - done) * sizeof(*track->entries));
    track->count -= done;
    return track->next > before;
}

int64_t track_back(const struct track *track)
{
    for (size_t i = 0; i < track->count; i++) {
        if (!track->entries[i].is_acked && !track->entries[i].is_out)
            return track->entries[i].offset;
    }
    return -1;
}

void track_end(struct track *track, int64_t offset)
{
    if (track->count == 0 && offset > track->next)
        track->next = offset;
}
