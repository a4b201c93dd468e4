/* Passes every call on, and cleans what a failure says. */
#include "adapter/bus_redact.h"

#include <stdlib.h>
#include <string.h>

#include "data/redact.h"
#include "data/url.h"

struct bus_redact {
    struct bus bus;
    struct bus *inner;
    struct bus_parts parts;
};

static struct bus_redact *self_of(struct bus *bus)
{
    return (struct bus_redact *)bus;
}

/* ---- cleaning ---- */

static size_t without(const struct bus_redact *self, struct str setting, char *text, size_t len)
{
    struct secret secret, password; /* the second one of a URL */
    struct error ignored;           /* what cannot be read was not shown */

    if (!secret_is_reference(setting) ||
        !secret_get(self->parts.secrets, setting, &secret, &ignored))
        return len;
    len = redact_text(text, len, secret_str(&secret));
    password.len = url_password(secret_str(&secret), password.bytes, sizeof(password.bytes));
    len = redact_text(text, len, secret_str(&password));
    secret_wipe(&password);
    secret_wipe(&secret);
    return len;
}

static size_t clean(const struct bus_redact *self, char *text, size_t len)
{
    const struct bus_auth *auth = &self->parts.spec->auth;
    const struct str settings[] = { auth->password,       auth->token,   auth->nkey,
                                    auth->credentials,    auth->signing, auth->user,
                                    self->parts.spec->url };

    for (size_t i = 0; i < ARRAY_LEN(settings); i++)
        len = without(self, settings[i], text, len);
    return len;
}

static bool told(const struct bus_redact *self, bool ok, struct error *err)
{
    if (!ok)
        err->text[clean(self, err->text, strlen(err->text))] = '\0';
    return ok;
}

/* Only a message that was not taken has a reason. */
static void clean_receipt(const struct bus_redact *self, struct arena *arena,
                          struct bus_receipt *receipt)
{
    char *copy;

    if (receipt->reason.len == 0)
        return;
    copy = arena_alloc(arena, receipt->reason.len);
    if (copy == NULL) {
        receipt->reason = STR("memory is short");
        return;
    }
    memcpy(copy, receipt->reason.data, receipt->reason.len);
    receipt->reason = (struct str){ copy, clean(self, copy, receipt->reason.len) };
}

/* ---- calls ---- */

static void close_both(struct bus *bus)
{
    bus_close(self_of(bus)->inner);
    free(self_of(bus));
}

static bool check(struct bus *bus, int64_t timeout_us, struct error *err)
{
    return told(self_of(bus), bus_check(self_of(bus)->inner, timeout_us, err), err);
}

static bool create(struct bus *bus, int64_t timeout_us, bool *made, struct error *err)
{
    return told(self_of(bus), bus_create(self_of(bus)->inner, timeout_us, made, err), err);
}

static bool publish(struct bus *bus, struct arena *arena, const struct bus_publish *call,
                    struct bus_receipt *receipts, struct error *err)
{
    const bool ok = bus_publish(self_of(bus)->inner, arena, call, receipts, err);

    for (size_t i = 0; i < call->count; i++)
        clean_receipt(self_of(bus), arena, &receipts[i]);
    return told(self_of(bus), ok, err);
}

static bool subscribe(struct bus *bus, struct str group, const struct bus_flow *flow,
                      struct error *err)
{
    return told(self_of(bus), bus_subscribe(self_of(bus)->inner, group, flow, err), err);
}

static bool poll_inner(struct bus *bus, struct arena *arena, const struct bus_poll *call,
                       struct bus_delivery_list *list, struct error *err)
{
    return told(self_of(bus), bus_poll(self_of(bus)->inner, arena, call, list, err), err);
}

static bool settle(struct bus *bus, const struct bus_settlement *settlements, size_t count,
                   struct error *err)
{
    return told(self_of(bus), bus_settle(self_of(bus)->inner, settlements, count, err), err);
}

static bool seek(struct bus *bus, int64_t at_us, struct error *err)
{
    return told(self_of(bus), bus_seek(self_of(bus)->inner, at_us, err), err);
}

static bool lag(struct bus *bus, struct bus_lag *value, struct error *err)
{
    return told(self_of(bus), bus_lag(self_of(bus)->inner, value, err), err);
}

static bool forget(struct bus *bus, struct error *err)
{
    return told(self_of(bus), bus_forget(self_of(bus)->inner, err), err);
}

bool bus_redact_open(const struct bus_parts *parts, struct bus **bus, struct error *err)
{
    static const struct bus_ops ops = { .close = close_both,
                                        .check = check,
                                        .create = create,
                                        .publish = publish,
                                        .subscribe = subscribe,
                                        .poll = poll_inner,
                                        .settle = settle,
                                        .seek = seek,
                                        .lag = lag,
                                        .forget = forget };
    struct bus_redact *self = calloc(1, sizeof(*self));

    if (self == NULL) {
        bus_close(*bus);
        *bus = NULL;
        return error_set(err, ERROR_TRANSIENT, "bus.busy", "memory is short");
    }
    self->bus = (struct bus){ &ops, (*bus)->capabilities };
    self->inner = *bus;
    self->parts = *parts;
    *bus = &self->bus;
    return true;
}
