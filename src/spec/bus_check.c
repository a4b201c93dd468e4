/* The rules of a bus file: what each type needs, what it does not have, and what fits together. */
#include "spec/bus_check.h"

#include <assert.h>
#include <string.h>

#include "data/url.h"
#include "spec/bus_setting.h"
#include "spec/setting_value.h"

struct check {
    const struct bus_spec *spec;
    const struct bus_marks *marks;
    struct fault_list *faults;
};

static const struct bus_mark *mark_of(const struct check *check, const char *path)
{
    const struct bus_setting *row = bus_setting_find(str_of(path));

    assert(row != NULL);
    return &check->marks->items[row - BUS_SETTINGS];
}

/* Given, and read without a fault. */
static bool is_good(const struct check *check, const char *path)
{
    const struct bus_mark *mark = mark_of(check, path);

    return mark->is_given && !mark->is_broken;
}

static struct str type_word(enum bus_type type)
{
    static const struct str words[] = { [BUS_TYPE_NATS] = STR_INIT("nats"),
                                        [BUS_TYPE_PUBSUB] = STR_INIT("pubsub"),
                                        [BUS_TYPE_KAFKA] = STR_INIT("kafka"),
                                        [BUS_TYPE_WEBHOOK] = STR_INIT("webhook") };
    return words[type];
}

static void check_presence(const struct check *check)
{
    const enum bus_type type = check->spec->type;

    for (size_t i = 0; i < BUS_SETTING_COUNT; i++) {
        const struct bus_setting *row = &BUS_SETTINGS[i];
        const struct bus_mark *mark = &check->marks->items[i];

        if (mark->is_given && !bus_setting_is_for(row, type)) {
            fault_error(check->faults, "bus.key.other-type", mark->at,
                        "%s is not a setting of a bus of type %.*s", row->setting.path,
                        STR_ARG(type_word(type)));
        } else if (!mark->is_given && (row->required & (1U << type)) != 0) {
            fault_error(check->faults, "bus.required", check->marks->name,
                        "%s is missing: a bus of type %.*s needs it", row->setting.path,
                        STR_ARG(type_word(type)));
            fault_hint(check->faults, "%s", row->setting.help);
        }
    }
}

/* ---- addresses ---- */

static bool check_no_user(const struct check *check, struct mark at, const char *path,
                          struct str address)
{
    if (str_find_char(address, '@') == address.len)
        return true;
    fault_error(check->faults, "bus.secret.literal", at, "%s contains a user or password", path);
    fault_hint(check->faults, "write them under auth, by reference: password: env:NAME");
    return false;
}

/* "host", "host:port", "[::1]:port". */
static bool is_place(struct str place, bool needs_port)
{
    struct str host = place, port = { 0 };
    size_t colon = place.len;
    int64_t number;

    while (colon > 0 && place.data[colon - 1] != ':' && place.data[colon - 1] != ']')
        colon--;
    if (colon > 0 && place.data[colon - 1] == ':') {
        host = str_slice(place, 0, colon - 1);
        port = str_slice(place, colon, place.len);
        if (!str_to_i64(port, &number) || number < 1 || number > 65535)
            return false;
    }
    if (host.len == 0 || (needs_port && port.len == 0))
        return false;
    for (size_t i = 0; i < host.len; i++) {
        const char c = host.data[i];

        if (c <= ' ' || c == 0x7f || strchr("/?#\\\"<>,;'", c) != NULL)
            return false;
    }
    return true;
}

static void check_nats_address(const struct check *check, struct mark at, struct str address)
{
    const bool is_tls = str_starts(address, STR("tls://"));
    const bool is_nats = str_starts(address, STR("nats://"));
    const size_t skip = is_tls ? 6 : is_nats ? 7 : 0;

    if (!check_no_user(check, at, "address", address))
        return;
    if (skip == 0 || !is_place(str_slice(address, skip, address.len), false)) {
        fault_error(check->faults, "bus.address", at, "address '%.*s' is not one of a NATS server",
                    STR_ARG(address));
        fault_hint(check->faults, "write tls://host:4222, or nats://host:4222 with allow_plain");
    } else if (is_nats && !check->spec->allow_plain) {
        fault_error(check->faults, "bus.plain", at,
                    "address '%.*s' is not encrypted, and allow_plain is not true",
                    STR_ARG(address));
        fault_hint(check->faults, "write tls://, or allow_plain: true for a server on this machine "
                                  "or in a closed network");
    }
}

static void check_place(const struct check *check, struct mark at, struct str address)
{
    if (!check_no_user(check, at, "address", address) || is_place(address, true))
        return;
    fault_error(check->faults, "bus.address", at, "address '%.*s' is not host:port",
                STR_ARG(address));
}

static void check_addresses(const struct check *check)
{
    const struct bus_spec *spec = check->spec;
    const struct mark at = mark_of(check, "address")->at;

    if (!is_good(check, "address") || spec->type == BUS_TYPE_WEBHOOK)
        return;
    if (spec->address_count == 0)
        fault_error(check->faults, "bus.address", at, "address is an empty list");
    if (spec->type == BUS_TYPE_PUBSUB && spec->address_count > 1)
        fault_error(check->faults, "bus.address", at, "address must be one place for Pub/Sub");
    for (size_t i = 0; i < spec->address_count; i++) {
        if (spec->type == BUS_TYPE_NATS)
            check_nats_address(check, at, spec->addresses[i]);
        else
            check_place(check, at, spec->addresses[i]);
    }
}

/* The message does not quote the URL: webhooks have tokens in theirs. */
static void check_url(const struct check *check)
{
    const struct str text = check->spec->url;
    const struct mark at = mark_of(check, "url")->at;
    struct error err;
    struct url url;

    if (!is_good(check, "url") || setting_is_reference(text))
        return;
    if (!url_parse(text, &url, &err) || url.fragment.data != NULL ||
        (!str_eq(url.scheme, STR("https")) && !str_eq(url.scheme, STR("http")))) {
        fault_error(check->faults, "bus.url", at, "url must be an absolute URL, https://host/path");
    } else if (url.userinfo.data != NULL) {
        (void)check_no_user(check, at, "url", STR("@"));
    } else if (str_eq(url.scheme, STR("http")) && !check->spec->allow_plain) {
        fault_error(check->faults, "bus.plain", at,
                    "url is not encrypted, and allow_plain is not true");
        fault_hint(check->faults, "write https://, or allow_plain: true for a server on this "
                                  "machine or in a closed network");
    }
}

/* ---- subjects ---- */

/* Tokens that are not empty, without wildcards and white space; one of them is ${lane}. */
static void check_subject(const struct check *check)
{
    struct str rest = check->spec->subject;
    const struct mark at = mark_of(check, "subject")->at;
    bool is_valid = rest.len > 0 && !str_ends(rest, STR("."));
    size_t lanes = 0;

    if (!is_good(check, "subject"))
        return;
    while (rest.len > 0) {
        const struct str token = str_cut(&rest, '.');

        if (str_eq(token, STR("${lane}"))) {
            lanes++;
            continue;
        }
        is_valid = is_valid && token.len > 0;
        for (size_t i = 0; i < token.len; i++)
            is_valid = is_valid && token.data[i] > ' ' && strchr("*>${}", token.data[i]) == NULL;
    }
    if (is_valid && lanes == 1)
        return;
    fault_error(check->faults, "bus.subject", at,
                "subject must be tokens joined by dots, one of them ${lane}, without wildcards");
    fault_hint(check->faults, "write patra.works.${lane}");
}

/* ---- credentials ---- */

static void check_pair(const struct check *check, const char *one, const char *other)
{
    const struct bus_mark *first = mark_of(check, one), *second = mark_of(check, other);

    if (first->is_given != second->is_given)
        fault_error(check->faults, "bus.auth", first->is_given ? first->at : second->at,
                    "%s needs %s", first->is_given ? one : other, first->is_given ? other : one);
}

static void check_one_way(const struct check *check)
{
    static const char *const ways[] = { "auth.password", "auth.token", "auth.nkey",
                                        "auth.credentials" };
    const char *found = NULL;

    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        const struct bus_mark *mark = mark_of(check, ways[i]);

        if (!mark->is_given)
            continue;
        if (found != NULL)
            fault_error(check->faults, "bus.auth", mark->at,
                        "%s and %s are two ways to authenticate: give one", found, ways[i]);
        found = ways[i];
    }
}

static void check_auth(const struct check *check)
{
    if (check->spec->type == BUS_TYPE_NATS)
        check_one_way(check);
    if (check->spec->type == BUS_TYPE_NATS || check->spec->type == BUS_TYPE_KAFKA) {
        if (!mark_of(check, "auth.nkey")->is_given)
            check_pair(check, "auth.user", "auth.password");
        else if (!mark_of(check, "auth.user")->is_given)
            fault_error(check->faults, "bus.auth", mark_of(check, "auth.nkey")->at,
                        "auth.nkey needs auth.user, the public key");
        check_pair(check, "tls.certificate", "tls.key");
    }
    if (is_good(check, "tls.ca") && check->spec->tls.ca.data[0] != '/')
        fault_error(check->faults, "bus.path", mark_of(check, "tls.ca")->at,
                    "tls.ca must be an absolute path");
    if (check->spec->type == BUS_TYPE_WEBHOOK && !mark_of(check, "auth.signing")->is_given) {
        fault_warn(check->faults, "bus.unsigned", check->marks->name,
                   "auth.signing is missing: the receiver cannot tell who sent a message");
        fault_hint(check->faults, "write signing: env:NAME under auth");
    }
}

static void check_retry(const struct check *check)
{
    if (check->spec->retry.first_us > check->spec->retry.max_us)
        fault_error(check->faults, "bus.retry", mark_of(check, "retry.first")->at,
                    "retry.first is longer than retry.max");
}

static void check_project(const struct check *check)
{
    static const char *const paths[] = { "project", "topic", "subscription" };
    const struct str texts[] = { check->spec->project, check->spec->topic,
                                 check->spec->subscription };

    for (size_t i = 0; i < 3; i++) {
        for (size_t c = 0; is_good(check, paths[i]) && c < texts[i].len; c++) {
            const char letter = texts[i].data[c];

            if ((letter >= '0' && letter <= '9') || (letter >= 'A' && letter <= 'Z') ||
                (letter >= 'a' && letter <= 'z') || strchr("-_.~+%:", letter) != NULL)
                continue;
            fault_error(check->faults, "bus.name", mark_of(check, paths[i])->at,
                        "%s may contain letters, digits and - _ . ~ + %% only", paths[i]);
            break;
        }
    }
}

void bus_check(const struct bus_spec *spec, const struct bus_marks *marks,
               struct fault_list *faults)
{
    const struct check check = { spec, marks, faults };

    if (!marks->has_name) {
        fault_error(faults, "bus.required", (struct mark){ 1, 1 }, "bus is missing");
        fault_hint(faults, "begin the file with the name of the bus: bus: works-nats");
    }
    if (!is_good(&check, "type")) {
        if (!mark_of(&check, "type")->is_given)
            fault_error(faults, "bus.required", marks->name,
                        "type is missing: nats, pubsub, kafka or webhook");
        return; /* all else depends on it */
    }
    check_presence(&check);
    check_addresses(&check);
    if (spec->type == BUS_TYPE_WEBHOOK)
        check_url(&check);
    if (spec->type == BUS_TYPE_NATS)
        check_subject(&check);
    check_auth(&check);
    check_retry(&check);
    check_project(&check);
}
