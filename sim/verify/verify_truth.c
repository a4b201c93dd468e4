/* The truth in the order of ids: from a world opened here, or from a running server. */
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "sim/util/api_date.h"
#include "sim/util/encode.h"
#include "sim/util/key_values.h"
#include "sim/verify/verify.h"

enum { BODY_MAX = 1 << 20, PAGE_MAX = 64 << 20 };

/* ---- local ---- */

struct local_reader {
    struct truth_reader port;
    struct sim_world *world;
    struct truth_query query;
    struct arena arena;
    struct buf scratch;
    uint32_t record;
    struct id id;
};

static struct local_reader *local_of(struct truth_reader *reader)
{
    return (struct local_reader *)(void *)reader;
}

static bool local_next(struct truth_reader *port, struct truth_line *line, bool *end,
                       struct error *err)
{
    struct local_reader *reader = local_of(port);
    const struct corpus *corpus = world_corpus(reader->world);

    *end = false;
    for (; reader->record < corpus->count; reader->record++) {
        const struct truth truth = truth_of(reader->world, &reader->query, reader->record);

        if (!truth_must_hold(truth.state))
            continue;
        reader->id = id_make(reader->query.form->ids, reader->record, corpus->count);
        reader->record++;
        *line = (struct truth_line){ .id = id_str(&reader->id),
                                     .state = truth.state,
                                     .updated_us = corpus->at_us[truth.version] };
        return truth_hash(reader->world, reader->query.form, truth.version, &reader->scratch,
                          line->digest, err);
    }
    *end = true;
    return true;
}

static bool local_look(struct truth_reader *port, struct str id, const uint8_t *digest,
                       struct truth_look *look, struct error *err)
{
    struct local_reader *reader = local_of(port);
    const struct corpus *corpus = world_corpus(reader->world);
    uint32_t record;
    struct truth truth;

    *look = (struct truth_look){ .state = TRUTH_ABSENT };
    if (!id_parse(reader->query.form->ids, id, corpus->count, &record))
        return true;
    truth = truth_of(reader->world, &reader->query, record);
    look->state = truth.state;
    look->exists = truth.state != TRUTH_ABSENT;
    for (uint32_t v = corpus->first[record]; look->exists && !look->served && v <= truth.version;
         v++) {
        uint8_t made[TRUTH_DIGEST_BYTES];

        if (!truth_hash(reader->world, reader->query.form, v, &reader->scratch, made, err))
            return false;
        look->served = memcmp(made, digest, sizeof(made)) == 0;
    }
    return true;
}

static void local_close(struct truth_reader *port)
{
    struct local_reader *reader = local_of(port);

    world_close(reader->world);
    arena_release(&reader->arena);
    free(reader);
}

struct truth_reader *truth_reader_local(const struct world_options *options,
                                        const struct truth_query *query, struct error *err)
{
    struct local_reader *reader = calloc(1, sizeof(*reader));

    if (reader == NULL) {
        (void)error_set(err, ERROR_FATAL, "memory", "no memory");
        return NULL;
    }
    arena_init(&reader->arena, (size_t)16 * BODY_MAX);
    buf_init(&reader->scratch, &reader->arena, BODY_MAX);
    reader->port = (struct truth_reader){ query->form, 0, local_next, local_look, local_close };
    if (query->form->ids == ID_PUBMED)
        reader->port.zone_us = options->pubmed_zone_us;
    reader->query = *query;
    reader->world = body_world_open(options, err);
    if (reader->world != NULL)
        return &reader->port;
    local_close(&reader->port);
    return NULL;
}

/* ---- remote ---- */

struct remote_reader {
    struct truth_reader port;
    CURL *curl;
    struct str url;    /* "http://127.0.0.1:8080/_sim/truth?" and the query */
    struct arena kept; /* the url */
    struct arena arena;
    struct str rest;      /* lines of the page that are not read yet */
    struct arena looking; /* for single ids */
    bool last;
    char after[256];
};

static struct remote_reader *remote_of(struct truth_reader *reader)
{
    return (struct remote_reader *)(void *)reader;
}

static size_t receive(char *data, size_t size, size_t count, void *context)
{
    buf_add(context, (struct str){ data, size * count });
    return size * count;
}

struct fetched {
    struct buf body; /* in the arena given */
    long status;
};

/* Requests the truth with one more parameter: `more` and, percent-encoded, `value`. */
static bool fetch(struct remote_reader *reader, struct arena *arena, struct key_value more,
                  struct fetched *fetched, struct error *err)
{
    struct buf url;
    CURLcode code;

    arena_reset(arena);
    buf_init(&url, arena, 8192);
    buf_init(&fetched->body, arena, PAGE_MAX);
    buf_add(&url, reader->url);
    buf_add(&url, more.name);
    encode_percent(&url, more.value);
    buf_add_char(&url, '\0');
    if (!buf_ok(&url, err))
        return error_wrap(err, "the truth's URL");
    (void)curl_easy_setopt(reader->curl, CURLOPT_URL, url.data);
    (void)curl_easy_setopt(reader->curl, CURLOPT_WRITEFUNCTION, receive);
    (void)curl_easy_setopt(reader->curl, CURLOPT_WRITEDATA, &fetched->body);
    code = curl_easy_perform(reader->curl);
    if (code != CURLE_OK)
        return error_set(err, ERROR_TRANSIENT, "verify.url", "%.*s: %s", STR_ARG(reader->url),
                         curl_easy_strerror(code));
    (void)curl_easy_getinfo(reader->curl, CURLINFO_RESPONSE_CODE, &fetched->status);
    return buf_ok(&fetched->body, err);
}

/* The text of "name":"..." in one of our own lines. */
static struct str field(struct str line, struct str mark)
{
    const size_t at = str_find(line, mark);
    struct str rest = str_slice(line, at + mark.len, line.len);

    return at < line.len ? str_slice(rest, 0, str_find_char(rest, '"')) : STR("");
}

static bool read_digest(struct str hex, uint8_t *digest)
{
    if (hex.len != (size_t)2 * TRUTH_DIGEST_BYTES)
        return false;
    for (size_t i = 0; i < hex.len; i++) {
        const char c = hex.data[i];
        const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;

        if (digit < 0)
            return false;
        digest[i / 2] = (uint8_t)(i % 2 == 0 ? digit << 4 : digest[i / 2] | digit);
    }
    return true;
}

static bool read_state(struct str name, enum truth_state *state)
{
    for (int i = TRUTH_ABSENT; i <= TRUTH_MOVED; i++) {
        if (str_eq(name, str_of(truth_state_name((enum truth_state)i)))) {
            *state = (enum truth_state)i;
            return true;
        }
    }
    return false;
}

static bool broken(struct str line, struct error *err)
{
    return error_set(err, ERROR_DATA, "verify.truth", "a line of the truth is not valid: %.*s",
                     STR_ARG(str_slice(line, 0, 200)));
}

static bool unexpected(const struct fetched *fetched, struct error *err)
{
    return error_set(err, ERROR_REQUEST, "verify.url", "the server responded %ld: %.*s",
                     fetched->status, STR_ARG(str_slice(buf_str(&fetched->body), 0, 300)));
}

static bool next_page(struct remote_reader *reader, struct error *err)
{
    const struct str after = str_of(reader->after);
    const struct key_value more = { after.len > 0 ? STR("&limit=5000&after=") : STR("&limit=5000"),
                                    after };
    struct fetched fetched;

    if (!fetch(reader, &reader->arena, more, &fetched, err))
        return false;
    if (fetched.status != 200)
        return unexpected(&fetched, err);
    reader->rest = buf_str(&fetched.body);
    return true;
}

static bool remote_next(struct truth_reader *port, struct truth_line *line, bool *end,
                        struct error *err)
{
    struct remote_reader *reader = remote_of(port);
    struct api_date date;
    struct str text;

    for (;;) {
        if (reader->rest.len == 0) {
            *end = reader->last;
            if (*end)
                return true;
            if (!next_page(reader, err))
                return false;
        }
        text = str_cut(&reader->rest, '\n');
        if (!str_starts(text, STR("{\"summary\"")))
            break;
        reader->last = str_find(text, STR("\"next\":null")) < text.len;
        (void)snprintf(reader->after, sizeof(reader->after), "%.*s",
                       STR_ARG(field(text, STR("\"next\":\""))));
        if (!reader->last && reader->after[0] == '\0')
            return broken(text, err);
    }
    *end = false;
    line->id = field(text, STR("\"id\":\""));
    if (line->id.len == 0 || !read_state(field(text, STR("\"state\":\"")), &line->state) ||
        !read_digest(field(text, STR("\"sha256\":\"")), line->digest) ||
        !api_date_parse(field(text, STR("\"updated_at\":\"")), &date))
        return broken(text, err);
    line->updated_us = date.from_us;
    return true;
}

static bool remote_look(struct truth_reader *port, struct str id, const uint8_t *digest,
                        struct truth_look *look, struct error *err)
{
    struct remote_reader *reader = remote_of(port);
    struct fetched fetched;
    struct str rest, line;

    *look = (struct truth_look){ .state = TRUTH_ABSENT };
    if (!fetch(reader, &reader->looking, (struct key_value){ STR("&id="), id }, &fetched, err))
        return false;
    if (fetched.status == 400)
        return true; /* not an id of this world */
    rest = buf_str(&fetched.body);
    line = str_cut(&rest, '\n');
    if (!read_state(field(line, STR("\"state\":\"")), &look->state))
        return broken(line, err);
    look->exists = look->state != TRUTH_ABSENT;
    for (size_t at = str_find(line, STR("\"sha256\":\"")); at < line.len;
         at = str_find(line, STR("\"sha256\":\""))) {
        uint8_t made[TRUTH_DIGEST_BYTES];

        line = str_slice(line, at, line.len);
        if (!read_digest(field(line, STR("\"sha256\":\"")), made))
            return broken(line, err);
        look->served = look->served || memcmp(made, digest, sizeof(made)) == 0;
        line = str_slice(line, 1, line.len);
    }
    return true;
}

static void remote_close(struct truth_reader *port)
{
    struct remote_reader *reader = remote_of(port);

    curl_easy_cleanup(reader->curl);
    arena_release(&reader->kept);
    arena_release(&reader->arena);
    arena_release(&reader->looking);
    free(reader);
}

/* PubMed's clock is an option of the server's world. */
static bool take_zone(struct remote_reader *reader, struct error *err)
{
    struct world_options options;
    struct fetched fetched;
    struct str rest;

    if (!fetch(reader, &reader->looking, (struct key_value){ STR("&limit=0"), STR("") }, &fetched,
               err))
        return false;
    if (fetched.status != 200)
        return unexpected(&fetched, err);
    rest = field(buf_str(&fetched.body), STR("\"world\":\""));
    world_options_init(&options);
    while (rest.len > 0) {
        struct str value = str_cut(&rest, '&');
        const struct str name = str_cut(&value, '=');

        if (!world_options_set(&options, name, value, err))
            return error_wrap(err, "the server's world");
    }
    if (reader->port.form->ids == ID_PUBMED)
        reader->port.zone_us = options.pubmed_zone_us;
    return true;
}

struct truth_reader *truth_reader_remote(struct str url, struct str params,
                                         const struct body_form *form, struct error *err)
{
    struct remote_reader *reader = calloc(1, sizeof(*reader));

    if (reader == NULL) {
        (void)error_set(err, ERROR_FATAL, "memory", "no memory");
        return NULL;
    }
    reader->port = (struct truth_reader){ form, 0, remote_next, remote_look, remote_close };
    arena_init(&reader->kept, 1 << 16);
    arena_init(&reader->arena, 4 * (size_t)PAGE_MAX);
    arena_init(&reader->looking, 4 * (size_t)PAGE_MAX);
    reader->url =
        arena_printf(&reader->kept, "%.*s/_sim/truth?%.*s", STR_ARG(url), STR_ARG(params));
    reader->curl = curl_easy_init();
    if (reader->url.data == NULL || reader->curl == NULL)
        (void)error_set(err, ERROR_FATAL, "memory", "no memory");
    else if (take_zone(reader, err))
        return &reader->port;
    remote_close(&reader->port);
    return NULL;
}
