/* Tests: archived responses have no secrets, and what is read is what was received. */
#include "engine/archive/archive.h"

#include <string.h>

#include "data/saved_response.h"
#include "test.h"

/* ---- a packer that keeps bytes as they are, and one secret ---- */

static bool keep(struct body_packer *packer, struct arena *arena,
                 const struct body_dictionary *dictionary, struct str bytes, struct str *packed,
                 struct error *err)
{
    (void)packer;
    (void)arena;
    (void)dictionary;
    (void)err;
    *packed = bytes;
    return true;
}

static void leave(struct body_packer *packer)
{
    (void)packer;
}

static bool get(struct secret_source *source, struct str reference, struct secret *secret,
                struct error *err)
{
    (void)source;
    if (!str_eq(reference, STR("env:KEY")))
        return error_set(err, ERROR_FATAL, "secret.missing", "none");
    secret->len = 8;
    memcpy(secret->bytes, "s3cr3t/1", 8);
    return true;
}

static struct secret_source secrets = { get };

/* ---- one response ---- */

static struct http_header headers[] = {
    { STR_INIT("Content-Type"), STR_INIT("application/json") },
    { STR_INIT("Date"), STR_INIT("Tue, 17 Nov 2026 10:00:00 GMT") },
    { STR_INIT("X-Next"), STR_INIT("/works?key=s3cr3t%2F1&page=2") },
};

static struct archived_body made(struct arena *arena, struct str body)
{
    static struct body_packer packer = { .pack = keep, .unpack = keep, .close = leave };
    const struct spec spec = { .source = STR("one") };
    const struct spec_endpoint endpoint = { .name = STR("works"),
                                            .auth = { .type = AUTH_API_KEY,
                                                      .secret = STR("env:KEY") },
                                            .page = { .next_header = STR("x-next") } };
    const struct request_form form = { .spec = &spec, .endpoint = &endpoint };
    const struct http_response reply = { .status = 200,
                                         .headers = { headers, ARRAY_LEN(headers) },
                                         .body = body };
    struct archive archive;
    struct archived_body archived = { 0 };
    struct error err;

    archive_init(&archive, &packer, NULL);
    archive.is_loaded = true; /* that there is no dictionary */
    archive.source = spec.source;
    archive.endpoint = endpoint.name;
    REQUIRE_OK(archive_make(&archive, arena,
                            &(struct archive_input){
                                .form = &form, .secrets = &secrets, .reply = &reply, .now_us = 5 },
                            &archived, &err),
               err);
    archive_release(&archive);
    return archived;
}

static struct http_response read_back(struct arena *arena, const struct archived_body *archived)
{
    const struct saved_response saved = { .text = archived->packed };
    struct http_response reply;
    struct error err;

    REQUIRE_OK(saved_response_read(&saved, arena, &reply, &err), err);
    return reply;
}

TEST(a_response_is_kept_as_it_was_received)
{
    const struct str body = STR("{\"mail\":\"jane.doe@example.org\",\"tel\":\"+49 30 1234567\"}");
    struct archived_body archived, again;
    struct http_response reply;
    struct arena arena;

    arena_init(&arena, 1 << 20);
    archived = made(&arena, body);
    reply = read_back(&arena, &archived);
    CHECK_EQ(reply.status, 200, "status");
    CHECK_STR(reply.body, body, "every byte: people in records are data");
    CHECK(http_header_value(reply.headers, STR("date")).data == NULL, "no header that varies");
    CHECK_STR(http_header_value(reply.headers, STR("content-type")), STR("application/json"),
              "those that are read");
    CHECK(http_header_value(reply.headers, ARCHIVE_MASKED_HEADER).data == NULL, "nothing masked");
    again = made(&arena, body);
    CHECK_STR(archived.hash, again.hash, "equal responses have one hash");
    CHECK_EQ(archived.raw_bytes, (int64_t)archived.packed.len, "its size");
    arena_release(&arena);
}

TEST(a_secret_that_a_response_repeats_is_not_kept)
{
    struct archived_body archived;
    struct http_response reply;
    struct arena arena;

    arena_init(&arena, 1 << 20);
    archived = made(&arena, STR("{\"api-key\":\"s3cr3t/1\",\"url\":\"?k=s3cr3t%2F1\"}"));
    CHECK(str_find(archived.packed, STR("s3cr3t")) == archived.packed.len, "in no form");
    reply = read_back(&arena, &archived);
    CHECK_STR(reply.body, STR("{\"api-key\":\"***\",\"url\":\"?k=***\"}"), "masked");
    CHECK_STR(http_header_value(reply.headers, ARCHIVE_MASKED_HEADER), STR("yes"),
              "and it says so");
    CHECK_STR(http_header_value(reply.headers, STR("x-next")), STR("/works?key=***&page=2"),
              "in headers as well");
    arena_release(&arena);
}
