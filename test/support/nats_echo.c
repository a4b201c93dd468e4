/* Copies of messages, by libnats. */
#include "nats_echo.h"

#include <nats/nats.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nats_server.h"
#include "random.h"
#include "test.h"

enum { KEPT_MAX = 40, CHANCE = 25, WAIT_MS = 200 };

#define ECHO_HEADER "Echo"

struct echoing {
    natsConnection *nc;
    const char *to;
    natsMsg *kept[KEPT_MAX];
    int count;
    struct random random;
    int64_t *published;
};

static void must(natsStatus status, const char *what)
{
    if (status == NATS_OK)
        return;
    (void)fprintf(stderr, "nats_echo: %s: %s\n", what, natsStatus_GetText(status));
    _exit(4);
}

/* Without the headers that speak to the server. */
static natsMsg *copy_of(natsMsg *message, const char *to)
{
    const char **names = NULL;
    natsMsg *copy = NULL;
    int count = 0;

    must(natsMsg_Create(&copy, to, NULL, natsMsg_GetData(message), natsMsg_GetDataLength(message)),
         "a copy");
    must(natsMsgHeader_Keys(message, &names, &count), "headers");
    for (int i = 0; i < count; i++) {
        const char *value = NULL;

        if (strncmp(names[i], "Nats-", 5) == 0)
            continue;
        must(natsMsgHeader_Get(message, names[i], &value), "a header");
        must(natsMsgHeader_Set(copy, names[i], value), "a header");
    }
    free((void *)names);
    must(natsMsgHeader_Set(copy, ECHO_HEADER, "1"), "a header");
    return copy;
}

/* One of those that were kept, whichever. */
static void publish_one(struct echoing *e)
{
    const int i = (int)random_between(&e->random, 0, e->count);

    if (natsConnection_PublishMsg(e->nc, e->kept[i]) == NATS_OK)
        __atomic_add_fetch(e->published, 1, __ATOMIC_RELAXED);
    natsMsg_Destroy(e->kept[i]);
    e->kept[i] = e->kept[--e->count];
}

static void take(struct echoing *e, natsMsg *message)
{
    const char *value = NULL;
    const bool is_ours = natsMsgHeader_Get(message, ECHO_HEADER, &value) == NATS_OK;
    const bool is_event = natsMsgHeader_Get(message, "event_id", &value) == NATS_OK;

    if (!is_ours && is_event && random_chance(&e->random, CHANCE))
        e->kept[e->count++] = copy_of(message, e->to);
    natsMsg_Destroy(message);
    if (e->count == KEPT_MAX || (e->count > 0 && random_chance(&e->random, CHANCE / 2)))
        publish_one(e);
}

static void echo_for_ever(int port, const char *from, const char *to, int64_t *published)
{
    struct echoing e = { .to = to, .random = { 5 }, .published = published };
    natsSubscription *subscription = NULL;
    natsOptions *options = NULL;
    char url[64];

    (void)snprintf(url, sizeof(url), "nats://127.0.0.1:%d", port);
    must(natsOptions_Create(&options), "options");
    must(natsOptions_SetURL(options, url), "options");
    must(natsOptions_SetUserInfo(options, NATS_USER, NATS_PASSWORD), "options");
    must(natsConnection_Connect(&e.nc, options), "connect");
    must(natsConnection_SubscribeSync(&subscription, e.nc, from), "subscribe");
    for (;;) {
        natsMsg *message = NULL;

        if (natsSubscription_NextMsg(&message, subscription, WAIT_MS) == NATS_OK)
            take(&e, message);
        else if (e.count > 0)
            publish_one(&e);
    }
}

void nats_echo_start(struct nats_echo *echo, int port, const char *from, const char *to)
{
    *echo = (struct nats_echo){ 0 };
    echo->count =
        mmap(NULL, sizeof(*echo->count), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(echo->count != MAP_FAILED, "memory");
    echo->pid = fork();
    REQUIRE(echo->pid >= 0, "fork");
    if (echo->pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        echo_for_ever(port, from, to, echo->count);
    }
}

int64_t nats_echo_stop(struct nats_echo *echo)
{
    int status = 0;

    (void)kill(echo->pid, SIGKILL);
    REQUIRE(waitpid(echo->pid, &status, 0) == echo->pid, "wait");
    CHECK(WIFSIGNALED(status), "it went on until then");
    echo->copies = *echo->count;
    (void)munmap(echo->count, sizeof(*echo->count));
    return echo->copies;
}
