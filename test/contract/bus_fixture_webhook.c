/* The fixture of a webhook: a receiver, and curl. */
#include <stdio.h>
#include <string.h>

#include "adapter/bus_open.h"
#include "adapter/system/system.h"
#include "bus_rig.h"
#include "fixed_secret.h"
#include "hook_server.h"
#include "spec/bus.h"

#define KEY "s3cret-of-the-webhook-key"

const struct bus_fixture bus_fixture = {
    .name = "webhook",
    .traits = BUS_CAN_STOP | BUS_DIALS | BUS_REFUSES_LARGE,
    .large = 100000,
    .secret = "s3cret",
};

static const struct fixed_secret SECRETS[] = { { "env:KEY", KEY },
                                               { "env:TOKEN", "s3cret-token" } };

static struct {
    struct hook_server *server;
    struct fixed_secrets secrets;
    struct clock clock;
    struct arena arena;
} fixture;

void bus_contract_begin(void)
{
    fixture.clock = system_clock();
    fixed_secrets_init(&fixture.secrets, SECRETS, ARRAY_LEN(SECRETS));
    arena_init(&fixture.arena, (size_t)4 << 20);
    fixture.server = hook_server_start(NULL, NULL);
}

void bus_contract_end(void)
{
    hook_server_end(fixture.server);
    arena_release(&fixture.arena);
    memset(&fixture, 0, sizeof(fixture));
}

struct bus *bus_contract_open_at(int port)
{
    struct bus_spec *spec = ARENA_NEW(&fixture.arena, struct bus_spec);
    const struct str text =
        arena_printf(&fixture.arena,
                     "bus: test\ntype: webhook\nurl: http://127.0.0.1:%d/hook?s3cret=s3cret\n"
                     "allow_plain: true\nauth: { signing: env:KEY, token: env:TOKEN }\n"
                     "message_max: 65536\n",
                     port);
    struct fault_list faults;
    struct error err;
    struct bus *bus;

    REQUIRE(spec != NULL && text.data != NULL, "memory");
    fault_list_init(&faults, &fixture.arena);
    REQUIRE(bus_read(&fixture.arena, text, &faults, spec), "the file is right");
    REQUIRE_OK(
        bus_open(&(struct bus_parts){ spec, &fixture.secrets.source, &fixture.clock }, &bus, &err),
        err);
    return bus;
}

struct bus *bus_contract_open(void)
{
    return bus_contract_open_at(hook_server_port(fixture.server));
}

void bus_contract_stop(void)
{
    hook_server_stop(fixture.server);
}

void bus_contract_start(void)
{
    hook_server_resume(fixture.server);
}

/* ---- what was received ---- */

static struct str decoded(struct arena *arena, struct str text)
{
    char *out = arena_alloc(arena, text.len + 1);
    size_t len = 0;

    for (size_t i = 0; i < text.len; i++) {
        unsigned byte = (unsigned char)text.data[i];

        if (byte == '%' && i + 2 < text.len) {
            const char hex[3] = { text.data[i + 1], text.data[i + 2], '\0' };

            REQUIRE(sscanf(hex, "%2x", &byte) == 1, "an escape");
            i += 2;
        }
        out[len++] = (char)byte;
    }
    return (struct str){ out, len };
}

/* Headers that are neither HTTP's nor the webhook's own. */
static void take_attributes(struct arena *arena, const struct hook_request *request,
                            struct bus_message *message)
{
    static const char *const others[] = { "host",
                                          "user-agent",
                                          "accept",
                                          "accept-encoding",
                                          "content-length",
                                          "content-type",
                                          "webhook-id",
                                          "webhook-timestamp",
                                          "webhook-signature",
                                          "patra-key",
                                          "patra-version",
                                          "authorization",
                                          "expect",
                                          "x-ingest-correlation-id" };
    struct bus_attribute *attributes = ARENA_ARRAY(arena, struct bus_attribute, 32);
    struct str rest = request->head;

    (void)str_cut(&rest, '\n');
    while (rest.len > 0) {
        struct str line = str_cut(&rest, '\n');
        const struct str name = str_trim(str_cut(&line, ':'));
        bool is_other = name.len == 0;

        for (size_t i = 0; i < ARRAY_LEN(others); i++)
            is_other |= str_eq_nocase(name, str_of(others[i]));
        if (!is_other)
            attributes[message->attribute_count++] = (struct bus_attribute){ name, str_trim(line) };
    }
    message->attributes = attributes;
}

size_t bus_contract_received(struct arena *arena, struct bus_delivery **items)
{
    const size_t count = hook_server_count(fixture.server);

    *items = ARENA_ARRAY(arena, struct bus_delivery, count);
    for (size_t i = 0; i < count; i++) {
        const struct hook_request request = hook_server_request(fixture.server, i);
        struct bus_message *message = &(*items)[i].message;

        CHECK_STR(hook_header(&request, "authorization"), STR("Bearer s3cret-token"), "the token");
        CHECK(str_starts(hook_header(&request, "webhook-signature"), STR("v1,")), "it is signed");
        message->event_id = hook_header(&request, "webhook-id");
        message->key = decoded(arena, hook_header(&request, "patra-key"));
        message->content_type = hook_header(&request, "content-type");
        message->body = request.body;
        (void)str_to_i64(hook_header(&request, "patra-version"), &message->version);
        take_attributes(arena, &request, message);
    }
    return count;
}
