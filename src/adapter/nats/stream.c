/* The stream itself: whether it is there, making it, and the last message of a lane. */
#include <stdio.h>
#include <string.h>

#include "adapter/nats/answer.h"
#include "adapter/nats/fault.h"
#include "adapter/nats/nats_bus.h"
#include "base/instant.h"

enum { NAME_MAX_BYTES = 256, NS_PER_US = 1000 };

static void stream_name(const struct nats_bus *bus, char name[NAME_MAX_BYTES])
{
    (void)snprintf(name, NAME_MAX_BYTES, "%.*s", STR_ARG(bus->link.parts.spec->stream));
}

static bool takes_subject(const jsStreamInfo *info, struct str wanted)
{
    for (int i = 0; i < info->Config->SubjectsLen; i++) {
        if (nats_subject_covers(str_of(info->Config->Subjects[i]), wanted))
            return true;
    }
    return false;
}

/* *found is false when there is no such stream. */
static bool look(struct nats_bus *bus, const struct nats_deadline *deadline, bool *found,
                 struct error *err)
{
    jsOptions options;
    char name[NAME_MAX_BYTES], subject[NATS_SUBJECT_MAX], doing[NAME_MAX_BYTES + 32];
    jsStreamInfo *info = NULL;
    jsErrCode code = 0;
    natsStatus status;
    bool takes;

    *found = false;
    stream_name(bus, name);
    (void)snprintf(doing, sizeof(doing), "stream %s", name);
    (void)jsOptions_Init(&options);
    options.Wait = nats_link_left_ms(&bus->link, deadline);
    status = js_GetStreamInfo(&info, bus->link.js, name, &options, &code);
    if (status == NATS_NOT_FOUND || code == JSStreamNotFoundErr)
        return true;
    if (status == NATS_NO_RESPONDERS)
        return error_set(err, ERROR_FATAL, "bus.missing", "%s: JetStream is not enabled there",
                         doing);
    if (status != NATS_OK)
        return nats_fault_stream(err, status, code, doing);
    *found = true;
    takes = nats_bus_subject(bus, -1, subject) && takes_subject(info, str_of(subject));
    jsStreamInfo_Destroy(info);
    return takes ||
           error_set(err, ERROR_FATAL, "bus.missing",
                     "%s does not take the subject %s: add it to the stream", doing, subject);
}

bool nats_bus_check(struct bus *base, int64_t timeout_us, struct error *err)
{
    struct nats_bus *bus = nats_bus_of(base);
    const struct nats_deadline deadline = nats_link_deadline(&bus->link, timeout_us, -1);
    bool found;

    if (!nats_link_ready(&bus->link, &deadline, err) || !look(bus, &deadline, &found, err))
        return false;
    return found ||
           nats_fault_stream(err, NATS_NOT_FOUND, JSStreamNotFoundErr, "look for the stream");
}

bool nats_bus_create(struct bus *base, int64_t timeout_us, bool *made, struct error *err)
{
    struct nats_bus *bus = nats_bus_of(base);
    const struct bus_create *create = &bus->link.parts.spec->create;
    const struct nats_deadline deadline = nats_link_deadline(&bus->link, timeout_us, -1);
    char name[NAME_MAX_BYTES], subject[NATS_SUBJECT_MAX], doing[NAME_MAX_BYTES + 32];
    const char *subjects[1] = { subject };
    jsStreamConfig config;
    jsOptions options;
    jsErrCode code = 0;
    natsStatus status;
    bool found;

    if (!nats_link_ready(&bus->link, &deadline, err) || !look(bus, &deadline, &found, err))
        return false;
    if (found)
        return true;
    stream_name(bus, name);
    (void)nats_bus_subject(bus, -1, subject);
    (void)jsOptions_Init(&options);
    options.Wait = nats_link_left_ms(&bus->link, &deadline);
    (void)jsStreamConfig_Init(&config);
    config.Name = name;
    config.Subjects = subjects;
    config.SubjectsLen = 1;
    config.Storage = create->storage == BUS_STORAGE_MEMORY ? js_MemoryStorage : js_FileStorage;
    config.Replicas = create->replicas;
    config.MaxAge = create->keep_us * NS_PER_US;
    config.Duplicates = create->dedup_us * NS_PER_US;
    status = js_AddStream(NULL, bus->link.js, &config, &options, &code);
    (void)snprintf(doing, sizeof(doing), "make the stream %s", name);
    if (status != NATS_OK)
        return nats_fault_stream(err, status, code, doing);
    *made = true;
    return true;
}

static int64_t epoch_of(natsMsg *msg)
{
    const char *value = NULL;
    int64_t epoch;

    if (natsMsgHeader_Get(msg, NATS_HEADER_EPOCH, &value) == NATS_OK &&
        str_to_i64(str_of(value), &epoch))
        return epoch;
    return 0;
}

bool nats_bus_last(struct nats_bus *bus, int64_t lane, const struct nats_deadline *deadline,
                   struct nats_last *last, struct error *err)
{
    char name[NAME_MAX_BYTES], subject[NATS_SUBJECT_MAX], doing[NAME_MAX_BYTES + 48];
    natsMsg *msg = NULL;
    jsOptions options;
    jsErrCode code = 0;
    natsStatus status;

    *last = (struct nats_last){ 0 };
    stream_name(bus, name);
    (void)nats_bus_subject(bus, lane, subject);
    (void)jsOptions_Init(&options);
    options.Wait = nats_link_left_ms(&bus->link, deadline);
    status = js_GetLastMsg(&msg, bus->link.js, name, subject, &options, &code);
    if (status == NATS_OK) {
        last->sequence = (int64_t)natsMsg_GetSequence(msg);
        last->epoch = epoch_of(msg);
        natsMsg_Destroy(msg);
        return true;
    }
    if (code == JSNoMessageFoundErr || (status == NATS_NOT_FOUND && code == 0))
        return true;
    (void)snprintf(doing, sizeof(doing), "last message of lane %d in stream %s", (int)lane, name);
    return nats_fault_stream(err, status, code, doing);
}
