/* Notes that are passed on within the program. */
#include "played_wake.h"

#include <sys/eventfd.h>
#include <unistd.h>

static struct played_wake *played_of(struct store *store)
{
    return (struct played_wake *)store;
}

static bool lost(struct error *err)
{
    return error_set(err, ERROR_TRANSIENT, "store.lost", "lost on demand");
}

static bool is_pushed(struct store *store)
{
    return !played_of(store)->is_asked;
}

static bool listen(struct store *store, enum wake_channel channel, bool *is_new, struct error *err)
{
    struct played_wake *played = played_of(store);

    if (played->is_lost)
        return lost(err);
    *is_new = !played->is_listening[channel];
    played->is_listening[channel] = true;
    played->listens += *is_new;
    return true;
}

void played_wake_note(struct played_wake *played, enum wake_channel channel, const char *text)
{
    struct wake_note *note = &played->notes[played->note_count];

    if (played->is_deaf || !played->is_listening[channel])
        return;
    assert(played->note_count < PLAYED_NOTES_MAX);
    played->note_count++;
    *note = (struct wake_note){ .has_channel = true, .channel = channel };
    (void)snprintf(note->text, sizeof(note->text), "%s", text);
    (void)!write(played->fd, &(uint64_t){ 1 }, sizeof(uint64_t));
}

static bool send(struct store *store, enum wake_channel channel, struct str text, struct error *err)
{
    struct played_wake *played = played_of(store);
    char copy[WAKE_TEXT_MAX];

    if (played->is_lost)
        return lost(err);
    played->sent[channel] += text.len == 0;
    (void)snprintf(copy, sizeof(copy), "%.*s", STR_ARG(text));
    if (played->peer != NULL)
        played_wake_note(played->peer, channel, copy);
    return true;
}

static int fd(struct store *store)
{
    return played_of(store)->is_asked ? -1 : played_of(store)->fd;
}

static bool next(struct store *store, struct wake_note *note, bool *has_note, struct error *err)
{
    struct played_wake *played = played_of(store);
    uint64_t ignored;

    played->asked++;
    if (played->is_lost)
        return lost(err);
    *has_note = played->note_count > 0;
    if (!*has_note) {
        (void)!read(played->fd, &ignored, sizeof(ignored));
        return true;
    }
    *note = played->notes[0];
    played->note_count--;
    for (int i = 0; i < played->note_count; i++)
        played->notes[i] = played->notes[i + 1];
    return true;
}

static bool reconnect(struct store *store, struct error *err)
{
    struct played_wake *played = played_of(store);

    (void)err;
    played->is_lost = false;
    played->note_count = 0;
    for (int i = 0; i < WAKE_CHANNELS; i++)
        played->is_listening[i] = false;
    return true;
}

static const struct store_ops STORE = { .reconnect = reconnect };
static const struct store_wake_ops WAKE = {
    .is_pushed = is_pushed, .listen = listen, .send = send, .fd = fd, .next = next
};

void played_wake_open(struct played_wake *played)
{
    played->store.ops = &STORE;
    played->store.wake = &WAKE;
    played->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

void played_wake_close(struct played_wake *played)
{
    (void)close(played->fd);
}
