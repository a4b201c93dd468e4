/* The bus that is a file. */
#include "file_bus.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "random.h"

struct file_bus {
    struct bus bus; /* first */
    int fd;
    struct file_bus_faults faults;
    struct random random;
};

static bool happens(struct file_bus *b, int permille)
{
    return permille > 0 && random_between(&b->random, 0, 1000) < permille;
}

static void bus_end(struct bus *bus)
{
    struct file_bus *b = (struct file_bus *)bus;

    (void)close(b->fd);
    free(b);
}

static bool bus_is_there(struct bus *bus, int64_t timeout_us, struct error *err)
{
    (void)bus;
    (void)timeout_us;
    (void)err;
    return true;
}

static bool put(struct file_bus *b, const struct bus_message *m)
{
    char record[FILE_BUS_RECORD + 1];
    const int len = snprintf(record, sizeof(record), "%.*s %.*s %lld", STR_ARG(m->event_id),
                             STR_ARG(m->key), (long long)m->version);

    if (len <= 0 || len >= FILE_BUS_RECORD)
        abort();
    memset(record + len, ' ', (size_t)(FILE_BUS_RECORD - len));
    record[FILE_BUS_RECORD - 1] = '\n';
    return write(b->fd, record, FILE_BUS_RECORD) == FILE_BUS_RECORD;
}

static bool publish_all(struct file_bus *b, const struct bus_publish *call,
                        struct bus_receipt *receipts, struct error *err)
{
    for (size_t i = 0; i < call->count; i++) {
        if (happens(b, b->faults.refuse))
            receipts[i] = (struct bus_receipt){ BUS_REFUSED, STR(""), STR("not this one") };
        else if (happens(b, b->faults.retry))
            receipts[i] = (struct bus_receipt){ BUS_RETRY, STR(""), STR("not now") };
        else if (put(b, &call->messages[i]))
            receipts[i] = (struct bus_receipt){ BUS_ACKED, STR(""), STR("") };
        else
            return error_set(err, ERROR_TRANSIENT, "bus.lost", "the file cannot be written");
    }
    return true;
}

static bool bus_put(struct bus *bus, struct arena *arena, const struct bus_publish *call,
                    struct bus_receipt *receipts, struct error *err)
{
    struct file_bus *b = (struct file_bus *)bus;

    (void)arena;
    if (happens(b, b->faults.fail_before))
        return error_set(err, ERROR_TRANSIENT, "bus.lost", "before its work");
    if (!publish_all(b, call, receipts, err))
        return false;
    if (!happens(b, b->faults.fail_after))
        return true;
    for (size_t i = 0; i < call->count; i++)
        receipts[i] = (struct bus_receipt){ BUS_RETRY, STR(""), STR("no answer") };
    return error_set(err, ERROR_TRANSIENT, "bus.timeout", "after its work");
}

static const struct bus_ops OPS = { .close = bus_end, .check = bus_is_there, .publish = bus_put };

struct bus *file_bus_open(const char *path, const struct file_bus_faults *faults, uint64_t seed)
{
    struct file_bus *b = calloc(1, sizeof(*b));

    if (b == NULL)
        return NULL;
    b->bus = (struct bus){ &OPS, BUS_ORDER };
    b->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    b->faults = *faults;
    b->random = (struct random){ seed };
    if (b->fd >= 0)
        return &b->bus;
    free(b);
    return NULL;
}

long file_bus_read(const char *path,
                   void (*call)(void *context, const struct file_bus_arrival *arrival),
                   void *context)
{
    FILE *file = fopen(path, "r");
    char line[FILE_BUS_RECORD + 1];
    long count = 0;

    if (file == NULL)
        return -1;
    while (fread(line, FILE_BUS_RECORD, 1, file) == 1) {
        struct file_bus_arrival arrival;

        line[FILE_BUS_RECORD] = '\0';
        if (sscanf(line, "%36s %63s %lld", arrival.event_id, arrival.key, &arrival.version) != 3) {
            count = -1;
            break;
        }
        call(context, &arrival);
        count++;
    }
    (void)fclose(file);
    return count;
}
