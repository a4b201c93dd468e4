/* What any bus says of a failure does not repeat its secrets, whichever call fails and however the
 * server writes them (planted.h). */
#include "adapter/bus_redact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixed_secret.h"
#include "planted.h"
#include "test.h"

static const char *const texts[] = { PLANTED_ONE, PLANTED_TWO, PLANTED_THREE };
static const char *said; /* by the bus below */

static bool fail(struct error *err)
{
    return error_set(err, ERROR_TRANSIENT, "bus.lost", "the server says: %s", said);
}

/* ---- a bus that fails at everything ---- */

static void close_it(struct bus *bus)
{
    free(bus);
}

static bool check(struct bus *bus, int64_t timeout_us, struct error *err)
{
    (void)bus;
    (void)timeout_us;
    return fail(err);
}

static bool create(struct bus *bus, int64_t timeout_us, bool *made, struct error *err)
{
    (void)bus;
    (void)timeout_us;
    (void)made;
    return fail(err);
}

static bool publish(struct bus *bus, struct arena *arena, const struct bus_publish *call,
                    struct bus_receipt *receipts, struct error *err)
{
    (void)bus;
    (void)arena;
    for (size_t i = 0; i < call->count; i++)
        receipts[i] = (struct bus_receipt){ .reason = str_of(said) };
    return fail(err);
}

static bool subscribe(struct bus *bus, struct str group, const struct bus_flow *flow,
                      struct error *err)
{
    (void)bus;
    (void)group;
    (void)flow;
    return fail(err);
}

static bool poll_it(struct bus *bus, struct arena *arena, const struct bus_poll *call,
                    struct bus_delivery_list *list, struct error *err)
{
    (void)bus;
    (void)arena;
    (void)call;
    (void)list;
    return fail(err);
}

static bool settle(struct bus *bus, const struct bus_settlement *settlements, size_t count,
                   struct error *err)
{
    (void)bus;
    (void)settlements;
    (void)count;
    return fail(err);
}

static bool seek(struct bus *bus, int64_t at_us, struct error *err)
{
    (void)bus;
    (void)at_us;
    return fail(err);
}

static bool lag(struct bus *bus, struct bus_lag *value, struct error *err)
{
    (void)bus;
    (void)value;
    return fail(err);
}

static bool forget(struct bus *bus, struct error *err)
{
    (void)bus;
    return fail(err);
}

static const struct bus_ops FAILING = { .close = close_it,
                                        .check = check,
                                        .create = create,
                                        .publish = publish,
                                        .subscribe = subscribe,
                                        .poll = poll_it,
                                        .settle = settle,
                                        .seek = seek,
                                        .lag = lag,
                                        .forget = forget };

/* ---- the tests ---- */

enum { CALLS = 9, MESSAGES = 2 };

static void call(struct bus *bus, struct arena *arena, int which)
{
    struct bus_receipt receipts[MESSAGES];
    struct bus_delivery_list list;
    struct bus_lag behind;
    struct error err = { 0 };
    bool made;

    switch (which) {
    case 0:
        CHECK(!bus->ops->check(bus, 1, &err), "check");
        break;
    case 1:
        CHECK(!bus->ops->create(bus, 1, &made, &err), "create");
        break;
    case 2:
        CHECK(!bus->ops->publish(bus, arena, &(struct bus_publish){ .count = MESSAGES }, receipts,
                                 &err),
              "publish");
        for (int i = 0; i < MESSAGES; i++) {
            CHECK(receipts[i].reason.len > 0, "it has a reason");
            planted_check(receipts[i].reason, "a receipt");
        }
        break;
    case 3:
        CHECK(!bus->ops->subscribe(bus, STR("group"), &(struct bus_flow){ 0 }, &err), "subscribe");
        break;
    case 4:
        CHECK(!bus->ops->poll(bus, arena, &(struct bus_poll){ 0 }, &list, &err), "poll");
        break;
    case 5:
        CHECK(!bus->ops->settle(bus, NULL, 0, &err), "settle");
        break;
    case 6:
        CHECK(!bus->ops->seek(bus, 0, &err), "seek");
        break;
    case 7:
        CHECK(!bus->ops->lag(bus, &behind, &err), "lag");
        break;
    default:
        CHECK(!bus->ops->forget(bus, &err), "forget");
        break;
    }
    CHECK(strstr(err.text, "the server says: key ***") != NULL, err.text);
    planted_check(str_of(err.text), "an error");
}

/* Each setting that may hold a secret, each call, twelve ways of writing. */
TEST(no_failure_of_a_bus_repeats_a_secret)
{
    static const struct fixed_secret known[] = {
        { "env:SECRET", PLANTED }, { "env:URL", "nats://op:" PLANTED_ENCODED "@127.0.0.1:4222" }
    };
    struct fixed_secrets secrets;
    struct arena arena;

    arena_init(&arena, 1 << 20);
    fixed_secrets_init(&secrets, known, ARRAY_LEN(known));
    for (int setting = 0; setting < 6; setting++) {
        struct bus_spec spec = { 0 };
        struct str *const settings[] = { &spec.auth.password, &spec.auth.token,
                                         &spec.auth.nkey,     &spec.auth.credentials,
                                         &spec.auth.signing,  &spec.url };
        const struct bus_parts parts = { .spec = &spec, .secrets = &secrets.source };
        struct bus *bus = calloc(1, sizeof(*bus));
        struct error err;

        REQUIRE(bus != NULL, "memory");
        *settings[setting] = setting == 5 ? STR("env:URL") : STR("env:SECRET");
        bus->ops = &FAILING;
        REQUIRE_OK(bus_redact_open(&parts, &bus, &err), err);
        for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
            said = texts[i];
            for (int which = 0; which < CALLS; which++)
                call(bus, &arena, which);
        }
        bus_close(bus);
    }
    arena_release(&arena);
}
