/* A provider's response, read by a source: a line with the name of the source (json, xml, ids) and
 * a status, then headers and body. It is refused with a level, or it is a page whose records can be
 * stored: ids that fit their column, dates, payloads. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/instant.h"
#include "base/list.h"
#include "data/xml.h"
#include "engine/probe/probe.h"
#include "fixed_secret.h"
#include "spec/check.h"
#include "spec/snapshot.h"

static const char JSON_SOURCE[] =
    "source: json\n"
    "http: { base_url: \"https://api.example.org\" }\n"
    "endpoints:\n"
    "  works:\n"
    "    role: search\n"
    "    path: /works\n"
    "    query: { cursor: \"${page.token}\", from: \"${window.from}\" }\n"
    "    page: { type: token, initial: \"*\", next: $.next }\n"
    "    window: { key: changed, granularity: second, max: 1d, min: 1h }\n"
    "    response:\n"
    "      items: $.items\n"
    "      id: $.id\n"
    "      updated_at: $.date\n"
    "      version: $.version\n"
    "      deleted: $.deleted\n"
    "      total: $.total\n"
    "      error_when: [ { path: $.error, level: L1, code: backend } ]\n"
    "    fields: { title: \"$.title[0]\" }\n"
    "operations: { harvest: { endpoint: works } }\n";

static const char XML_SOURCE[] =
    "source: xml\n"
    "http: { base_url: \"https://api.example.org\" }\n"
    "endpoints:\n"
    "  works:\n"
    "    role: search\n"
    "    path: /works\n"
    "    query: { from: \"${date(window.from)}\" }\n"
    "    page: { type: url, next_header: Link }\n"
    "    window: { key: changed, granularity: day, max: 1d, min: 1d, align: day }\n"
    "    response:\n"
    "      format: xml\n"
    "      items: /list/work\n"
    "      id: id\n"
    "      updated_at: date\n"
    "      deleted: \"@gone\"\n"
    "      total: /list/@total\n"
    "    fields: { title: title }\n"
    "operations: { harvest: { endpoint: works } }\n";

/* Phase one of two: bare ids, in lists that a wildcard finds. */
static const char IDS_SOURCE[] =
    "source: ids\n"
    "http: { base_url: \"https://api.example.org\" }\n"
    "endpoints:\n"
    "  works:\n"
    "    role: search\n"
    "    path: /works\n"
    "    query: { from: \"${window.from}\" }\n"
    "    page: { type: single }\n"
    "    window: { key: changed, granularity: second, max: 1d, min: 1h }\n"
    "    response: { items: \"$.ids[*]\", id: $ }\n"
    "    details: { endpoint: work }\n"
    "  work:\n"
    "    role: detail\n"
    "    path: /work\n"
    "    query: { ids: \"${join(ids.list, ',')}\" }\n"
    "    page: { type: single }\n"
    "    response: { items: $, id: $.id }\n"
    "operations: { harvest: { endpoint: works } }\n";

static void read_spec(struct arena *arena, const char *file, struct spec *spec)
{
    struct source source;
    const struct snapshot_request request = { .source = &source, .operation = STR("harvest") };
    struct snapshot snapshot;
    struct fault_list faults;
    struct error err;

    fault_list_init(&faults, arena);
    assert(source_lint(arena, &xml_module, &(struct source_text){ .file = str_of(file) }, &faults,
                       &source));
    assert(snapshot_make(arena, &request, &snapshot, &err));
    assert(spec_read(arena, snapshot.json, spec, &err));
}

/* Read once, for all inputs. */
static const struct spec *spec_of(struct str name)
{
    static struct spec specs[3];
    static struct arena kept;

    if (specs[0].source.len == 0) {
        arena_init(&kept, 16 << 20);
        read_spec(&kept, JSON_SOURCE, &specs[0]);
        read_spec(&kept, XML_SOURCE, &specs[1]);
        read_spec(&kept, IDS_SOURCE, &specs[2]);
    }
    return &specs[str_eq(name, STR("xml")) ? 1 : str_eq(name, STR("ids")) ? 2 : 0];
}

/* Up to an empty line; what follows is the body. */
static void read_headers(struct arena *arena, struct str *rest, struct http_headers *headers)
{
    struct {
        struct http_header *items;
        size_t count;
    } list = { 0 };
    struct str line;

    while (rest->len > 0 && (line = str_cut(rest, '\n')).len > 0) {
        const struct str name = str_cut(&line, ':');
        struct http_header *header = LIST_ADD(arena, &list);

        if (header == NULL)
            break;
        *header = (struct http_header){ name, str_trim(line) };
    }
    *headers = (struct http_headers){ list.items, list.count };
}

static void check_listing(struct arena *arena, const struct probe *probe)
{
    const struct record_origin origin = { .reader = &probe->reader,
                                          .document = &probe->response.document,
                                          .arena = arena };
    const struct listing *listing = &probe->listing;
    struct error err;
    struct record_fields fields;

    assert(probe->response.kind == RESPONSE_EMPTY || !probe->response.items.is_broken);
    assert(listing->records.count + listing->bad.count + listing->dropped <= listing->items);
    for (size_t i = 0; probe->lists_ids && i < listing->hash_count; i++)
        assert(listing->ids[i].len > 0 && str_is_utf8(listing->ids[i]));
    for (size_t i = 0; i < listing->records.count; i++) {
        const struct record *record = &listing->records.items[i];

        assert(record->provider_id.len > 0 && record->provider_id.len <= RECORD_ID_MAX);
        assert(str_is_utf8(record->provider_id));
        assert(str_find_char(record->provider_id, '\0') == record->provider_id.len);
        assert(record->payload.len > 0);
        assert(record->has_updated_at || record->is_future || record->is_deleted);
        (void)!record_fields(&origin, record, &fields, &err);
    }
}

static void probe_reply(struct arena *arena, const struct spec *spec,
                        const struct http_response *reply)
{
    const struct slice slice = { .dimension = SLICE_TIME,
                                 .window = { 0, US_PER_DAY },
                                 .query = { .window = { 0, US_PER_DAY },
                                            .keep = { 0, US_PER_DAY } } };
    struct fixed_secrets secrets;
    struct probe probe = { 0 };
    struct error err;

    fixed_secrets_init(&secrets, NULL, 0);
    assert(probe_open(&probe, arena,
                      &(struct probe_input){ .spec = spec,
                                             .slice = &slice,
                                             .secrets = &secrets.source,
                                             .xml = &xml_module,
                                             .now_us = INT64_C(1767225600000000) },
                      &err));
    if (probe_read(&probe, reply, &err)) {
        check_listing(arena, &probe);
        (void)!probe_warn(&probe, &err);
    } else
        assert(err.level != ERROR_NONE && err.code[0] != '\0');
    probe_close(&probe);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct str rest = { (const char *)bytes, size };
    struct str line = str_cut(&rest, '\n');
    const struct str name = str_cut(&line, ' ');
    struct http_response reply = { 0 };
    struct arena arena;
    int64_t status;

    if (!str_to_i64(line, &status) || status < 100 || status > 599)
        return 0;
    arena_init(&arena, 64 << 20);
    reply.status = (int)status;
    read_headers(&arena, &rest, &reply.headers);
    reply.body = rest;
    probe_reply(&arena, spec_of(name), &reply);
    arena_release(&arena);
    return 0;
}
