/* write_messages FOLDER: messages of events, made by wire_make() in every form, for judges that
 * know nothing of patra (messages.py).
 *
 *      FOLDER/N.json        the event
 *      FOLDER/N.FORM        the body; FORM is json, protobuf
 *      FOLDER/N.FORM.binary, N.FORM.structured    the same as CloudEvents
 *      FOLDER/N.*.attributes                      {"content-type":...,"attributes":{...}}
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/protobuf/protobuf.h"
#include "data/json_write.h"
#include "engine/message/wire.h"

#define OPEN8 "[[[[[[[["
#define CLOSE8 "]]]]]]]]"

static const struct {
    const char *type, *source, *endpoint, *id, *foreign, *body;
    int64_t version, at_us;
} EVENTS[] = {
    { "RecordUpdated", "crossref", "works", "10.1000/182", NULL,
      "{\"updatedAt\":\"2026-01-01T00:00:00Z\",\"providerVersion\":\"2\",\"contentHash\":"
      "\"c0ffee\","
      "\"fields\":{\"title\":\"a\\nb \\u00e4\\ud83d\\ude00\",\"year\":2026,\"score\":1.50,"
      "\"is_open\":true,\"nothing\":null,\"authors\":[\"A\",{\"family\":\"B\",\"n\":[1,2.5,[]]}],"
      "\"empty\":{},\"none\":[]}}",
      3, 1767225600500000 },
    { "RecordDeleted", "crossref", "works", "b\xc3\xa4r \"%\" \xf0\x9f\x98\x80", NULL,
      "{\"mergedInto\":\"10.1/b\",\"contentHash\":\"c\"}", INT64_MAX, 1 },
    { "RecordCreated", "pub med", "a/b", "1", NULL,
      "{\"updatedAt\":\"1969-12-31T23:59:59.999999Z\",\"contentHash\":\"\",\"fields\":{"
      "\"big\":9223372036854775807,\"bigger\":9223372036854775808,\"small\":-9223372036854775808,"
      "\"long\":3.14159265358979323846,\"tiny\":1e-320,\"huge\":1e400,\"e\":1.5e3,\"zero\":-0.0,"
      "\"exact\":0.1,\"fifteen\":123456789012.345,\"sixteen\":1234567890123.4567}}",
      1, -62135596800000000 },
    { "RecordUpdated", "s", "e", "tab\there\x7f", NULL,
      "{\"contentHash\":\"c\",\"fields\":{\"nul\":\"a\\u0000b\",\"half\":\"\\ud800\","
      "\"names\":{\"a\\u0000b\":1},\"deep\":" OPEN8 OPEN8 OPEN8 OPEN8 OPEN8 OPEN8 OPEN8 OPEN8
      "1" CLOSE8 CLOSE8 CLOSE8 CLOSE8 CLOSE8 CLOSE8 CLOSE8 CLOSE8
      "},\"payload\":{\"whole\": [1,  2]},\"exprHash\":\"e2\",\"rederived\":true}",
      2, 1767225600000000 },
    { "RecordCreated", "pubmed", "articles", "38000001", NULL,
      "{\"contentHash\":\"c\",\"fields\":{},\"payload\":\"<a x='1'>\\n&amp;</a>\","
      "\"lineage\":{\"planId\":9}}",
      1, 253402300799999999 },
    { "VideoPublished", "", "", "v_123", "video", "{\"title\": \"x\"}", 7, 1767225600000000 },
    { "VideoPublished", "", "", "v_124", "video clips", "\x0a\x03\xff\x00\x01", 1,
      1767225600000000 },
};

static void write_file(const char *folder, const char *name, struct str bytes)
{
    char path[1024];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes.data, 1, bytes.len, file) != bytes.len || fclose(file) != 0)
        exit(1);
}

static struct str attributes_json(struct arena *arena, const struct wire_message *message)
{
    struct json_writer w;
    struct buf out;

    buf_init(&out, arena, 1 << 20);
    json_writer_init(&w, &out);
    json_write_object(&w);
    json_write_member_str(&w, STR("content-type"), message->content_type);
    json_write_member_str(&w, STR("key"), message->key);
    json_write_name(&w, STR("attributes"));
    json_write_object(&w);
    for (size_t i = 0; i < message->attribute_count; i++)
        json_write_member_str(&w, message->attributes[i].name, message->attributes[i].value);
    json_write_end(&w);
    json_write_end(&w);
    return buf_str(&out);
}

static void write_message(struct arena *arena, const char *folder, size_t number,
                          const struct wire_settings *settings)
{
    static const char *const modes[] = { "", ".binary", ".structured" };
    static const char *const carriers[] = { "", ".headers", ".kafka" };
    const bool is_foreign = EVENTS[number].foreign != NULL;
    const struct stored_event stored = {
        .event = { .event_id = arena_printf(arena, "019b0000-0000-7000-8000-%012zu", number),
                   .event_type = str_of(EVENTS[number].type),
                   .version = EVENTS[number].version,
                   .schema_version = 1,
                   .occurred_us = EVENTS[number].at_us,
                   .body = { EVENTS[number].body, is_foreign && EVENTS[number].body[0] == '\x0a'
                                                      ? 5
                                                      : str_of(EVENTS[number].body).len } },
        .source = str_of(EVENTS[number].source),
        .endpoint = str_of(EVENTS[number].endpoint),
        .provider_id = str_of(is_foreign ? NULL : EVENTS[number].id),
        .expr_hash = STR("e1"),
        .lineage = { 1, 2, 3, 4, 5, INT64_C(1) << 40 },
        .aggregate_type = str_of(EVENTS[number].foreign),
        .aggregate_id = str_of(is_foreign ? EVENTS[number].id : NULL),
    };
    struct wire_message message;
    struct error err = { 0 };
    char name[128];

    if (!wire_settings_check(settings, &err) ||
        !wire_make(arena, settings, &stored, &message, &err)) {
        fprintf(stderr, "event %zu: %s\n", number, err.text);
        exit(1);
    }
    (void)snprintf(name, sizeof(name), "%zu.%s%s%s", number,
                   settings->codec == NULL ? "json" : "protobuf", modes[settings->cloudevents],
                   carriers[settings->carrier]);
    write_file(folder, name, message.body);
    (void)snprintf(name + strlen(name), sizeof(name) - strlen(name), ".attributes");
    write_file(folder, name, attributes_json(arena, &message));
}

int main(int argc, char **argv)
{
    const struct event_codec *protobuf;
    struct error err = { 0 };
    struct arena arena;

    if (argc != 2)
        return 2;
    if (!protobuf_event_codec(&protobuf, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    arena_init(&arena, (size_t)64 << 20);
    for (size_t i = 0; i < ARRAY_LEN(EVENTS); i++) {
        for (int form = 0; form < 2 * 3 * 3; form++) {
            const struct wire_settings settings = {
                .codec = form % 2 == 0 ? NULL : protobuf,
                .cloudevents = (enum wire_cloudevents)(form / 2 % 3),
                .carrier = (enum wire_carrier)(form / 6),
                .source = form / 6 == 0 ? STR("") : STR("https://patra.example.org/a/"),
            };

            write_message(&arena, argv[1], i, &settings);
        }
    }
    arena_release(&arena);
    printf("%zu\n", ARRAY_LEN(EVENTS));
    return 0;
}
