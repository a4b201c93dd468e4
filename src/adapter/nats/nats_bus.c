/* The handle: opening, closing, and what its parts share. */
#include "adapter/nats/nats_bus.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCRATCH_BYTES_MAX ((size_t)64 << 20)

static void close_bus(struct bus *base)
{
    struct nats_bus *bus = nats_bus_of(base);

    nats_reader_release(&bus->reader);
    nats_link_close(&bus->link);
    arena_release(&bus->scratch);
    free(bus);
}

static const struct bus_ops OPS = {
    .close = close_bus,
    .check = nats_bus_check,
    .create = nats_bus_create,
    .publish = nats_bus_publish,
    .subscribe = nats_bus_subscribe,
    .poll = nats_bus_poll,
    .settle = nats_bus_settle,
    .seek = nats_bus_seek,
    .lag = nats_bus_lag,
    .forget = nats_bus_forget,
};

bool nats_bus_open(const struct bus_parts *parts, struct bus **out, struct error *err)
{
    struct nats_bus *bus = calloc(1, sizeof(*bus));
    char subject[NATS_SUBJECT_MAX];

    if (bus == NULL)
        return error_set(err, ERROR_TRANSIENT, "bus.busy", "memory is short");
    bus->bus = (struct bus){ &OPS, BUS_SEEK_TIME | BUS_EXTEND | BUS_DELIVERY_COUNT | BUS_DEDUP |
                                       BUS_ORDER | BUS_FENCE | BUS_READ | BUS_CREATE };
    nats_link_init(&bus->link, parts);
    arena_init(&bus->scratch, SCRATCH_BYTES_MAX);
    if (!nats_bus_subject(bus, OUTBOX_LANES - 1, subject)) {
        close_bus(&bus->bus);
        return error_set(err, ERROR_FATAL, "bus.spec", "the subject is longer than %d bytes",
                         NATS_SUBJECT_MAX - 1);
    }
    *out = &bus->bus;
    return true;
}

bool nats_bus_subject(const struct nats_bus *bus, int64_t lane, char subject[NATS_SUBJECT_MAX])
{
    const struct str text = bus->link.parts.spec->subject;
    const size_t at = str_find(text, STR("${lane}"));
    const struct str before = str_slice(text, 0, at);
    const struct str after = str_slice(text, at + strlen("${lane}"), text.len);
    int len;

    if (lane < 0)
        len = snprintf(subject, NATS_SUBJECT_MAX, "%.*s*%.*s", STR_ARG(before), STR_ARG(after));
    else
        len = snprintf(subject, NATS_SUBJECT_MAX, "%.*s%" PRId64 "%.*s", STR_ARG(before), lane,
                       STR_ARG(after));
    return len > 0 && len < NATS_SUBJECT_MAX;
}

bool nats_bus_index(const struct nats_bus *bus, const natsMsg *msg, char kind, size_t *index)
{
    struct str subject = str_of(natsMsg_GetSubject(msg));
    const struct str prefix = str_of(bus->link.prefix);
    int64_t call, number;

    if (!str_starts(subject, prefix))
        return false;
    subject = str_slice(subject, prefix.len, subject.len);
    if (subject.len < 2 || subject.data[0] != kind || subject.data[1] != '-')
        return false;
    subject = str_slice(subject, 2, subject.len);
    if (!str_to_i64(str_cut(&subject, '-'), &call) || call != bus->calls ||
        !str_to_i64(subject, &number) || number < 0)
        return false;
    *index = (size_t)number;
    return true;
}
