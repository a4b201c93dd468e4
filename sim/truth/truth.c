/* Decides what a perfect harvest must hold, and writes it as JSON lines. */
#include "sim/truth/truth.h"

#include <openssl/evp.h>

#include "base/instant.h"
#include "sim/protocol/page.h"
#include "sim/util/api_date.h"

enum { LINES_PRESET = 1000, LINES_MAX = 100000, BODY_MAX = 1 << 20 };

#define LINES STR("application/x-ndjson")

const char *truth_state_name(enum truth_state state)
{
    static const char *const names[] = {
        [TRUTH_ABSENT] = "absent", [TRUTH_LIVE] = "live", [TRUTH_DELETED] = "deleted",
        [TRUTH_MERGED] = "merged", [TRUTH_GONE] = "gone", [TRUTH_MOVED] = "moved",
    };

    return names[state];
}

bool truth_must_hold(enum truth_state state)
{
    return state == TRUTH_LIVE || state == TRUTH_DELETED || state == TRUTH_MERGED;
}

struct truth truth_of(const struct sim_world *world, const struct truth_query *query,
                      uint32_t record)
{
    const struct corpus *corpus = world_corpus(world);
    struct truth truth = { TRUTH_ABSENT, record, corpus_current(corpus, record, query->at_us) };
    const enum view_mode mode = query->form->mode;
    uint8_t flags;
    int64_t key_us;

    if (truth.version == CORPUS_NONE)
        return truth;
    flags = corpus->flags[truth.version];
    key_us = view_key_of(corpus, query->field, truth.version);
    if ((mode != VIEW_ALL && (flags & VERSION_MERGED) != 0) ||
        (mode == VIEW_LIVE && (flags & VERSION_DELETED) != 0))
        truth.state = TRUTH_GONE;
    else if (key_us < query->from_us || key_us >= query->to_us)
        truth.state = TRUTH_MOVED;
    else if (mode == VIEW_ALL && (flags & VERSION_DELETED) != 0)
        truth.state = TRUTH_DELETED;
    else if (mode == VIEW_ALL && (flags & VERSION_MERGED) != 0)
        truth.state = TRUTH_MERGED;
    else
        truth.state = TRUTH_LIVE;
    return truth;
}

bool truth_hash(const struct sim_world *world, const struct body_form *form, uint32_t version,
                struct buf *scratch, uint8_t digest[TRUTH_DIGEST_BYTES], struct error *err)
{
    buf_clear(scratch);
    body_write(form, world, scratch, version, FLAW_NONE);
    if (!buf_ok(scratch, err))
        return error_wrap(err, "hash a body");
    if (EVP_Digest(scratch->data, scratch->len, digest, NULL, EVP_sha256(), NULL) != 1)
        return error_set(err, ERROR_FATAL, "crypto", "SHA-256 failed");
    return true;
}

/* ---- /_sim/truth ---- */

struct listing {
    struct sim_world *world;
    struct truth_query query;
    struct buf *out;
    struct buf scratch;
    EVP_MD_CTX *sum;
    bool may;
    bool summary;
    bool all_versions; /* of a single id */
    size_t counts[TRUTH_MOVED + 1];
};

static void add_instant(struct buf *out, int64_t at_us)
{
    char text[INSTANT_TEXT_MAX];

    buf_add(out, (struct str){ text, instant_format(at_us, text) });
}

static struct id id_of(const struct listing *listing, uint32_t record)
{
    return id_make(listing->query.form->ids, record, world_corpus(listing->world)->count);
}

static bool add_version(struct listing *listing, uint32_t version, uint8_t *digest,
                        struct error *err)
{
    const struct corpus *corpus = world_corpus(listing->world);

    if (!truth_hash(listing->world, listing->query.form, version, &listing->scratch, digest, err))
        return false;
    if (listing->summary)
        return true;
    buf_printf(listing->out, "\"version\":%u,\"updated_at\":\"", corpus_ordinal(corpus, version));
    add_instant(listing->out, corpus->at_us[version]);
    buf_add(listing->out, STR("\",\"sha256\":\""));
    buf_add_hex(listing->out, digest, TRUTH_DIGEST_BYTES);
    buf_add_char(listing->out, '"');
    return true;
}

/* All versions that were visible by then, the current one last. */
static bool add_versions(struct listing *listing, struct truth truth, struct error *err)
{
    const struct corpus *corpus = world_corpus(listing->world);
    uint8_t digest[TRUTH_DIGEST_BYTES];

    buf_add(listing->out, STR(",\"versions\":["));
    for (uint32_t v = corpus->first[truth.record]; v <= truth.version; v++) {
        const bool tombstone = (corpus->flags[v] & (VERSION_DELETED | VERSION_MERGED)) != 0;

        if (tombstone && truth.state == TRUTH_GONE)
            break; /* it was never visible */
        buf_add(listing->out, v > corpus->first[truth.record] ? STR(",{") : STR("{"));
        if (!add_version(listing, v, digest, err))
            return false;
        buf_add_char(listing->out, '}');
    }
    buf_add_char(listing->out, ']');
    return true;
}

static void add_sum(struct listing *listing, struct truth truth, struct str id,
                    const uint8_t *digest)
{
    struct buf *line = &listing->scratch; /* the body in it has been hashed */
    const struct corpus *corpus = world_corpus(listing->world);

    buf_clear(line);
    buf_add(line, id);
    buf_printf(line, "\t%u\t%s\t", corpus_ordinal(corpus, truth.version),
               truth_state_name(truth.state));
    buf_add_hex(line, digest, TRUTH_DIGEST_BYTES);
    buf_add_char(line, '\n');
    (void)EVP_DigestUpdate(listing->sum, line->data, line->len);
}

static bool write_one(struct listing *listing, struct truth truth, struct error *err)
{
    const struct id id = id_of(listing, truth.record);
    const bool must = truth_must_hold(truth.state);
    uint8_t digest[TRUTH_DIGEST_BYTES];

    if (!listing->summary) {
        buf_add(listing->out, STR("{\"id\":\""));
        buf_add(listing->out, id_str(&id));
        buf_add(listing->out, STR("\","));
    }
    if (must) {
        if (!add_version(listing, truth.version, digest, err))
            return false;
        add_sum(listing, truth, id_str(&id), digest);
        if (!listing->summary)
            buf_add_char(listing->out, ',');
    }
    if (listing->summary)
        return true;
    buf_printf(listing->out, "\"state\":\"%s\"", truth_state_name(truth.state));
    if (truth.state == TRUTH_MERGED) {
        const struct id into =
            id_of(listing, corpus_merged_into(world_options_of(listing->world), truth.record));

        buf_printf(listing->out, ",\"merged_into\":\"%.*s\"", STR_ARG(id_str(&into)));
    }
    if ((!must || listing->all_versions) && truth.state != TRUTH_ABSENT &&
        !add_versions(listing, truth, err))
        return false;
    buf_add(listing->out, STR("}\n"));
    return true;
}

static bool add_summary(struct listing *listing, uint32_t next, struct error *err)
{
    uint8_t digest[TRUTH_DIGEST_BYTES];

    if (EVP_DigestFinal_ex(listing->sum, digest, NULL) != 1)
        return error_set(err, ERROR_FATAL, "crypto", "SHA-256 failed");
    buf_add(listing->out, STR("{\"summary\":{"));
    for (int state = TRUTH_LIVE; state <= TRUTH_MOVED; state++)
        buf_printf(listing->out, "\"%s\":%zu,", truth_state_name((enum truth_state)state),
                   listing->counts[state]);
    buf_add(listing->out, STR("\"digest\":\""));
    buf_add_hex(listing->out, digest, sizeof(digest));
    buf_add(listing->out, STR("\",\"world\":\""));
    world_options_write(world_options_of(listing->world), listing->out);
    if (next > 0 && next < world_corpus(listing->world)->count) {
        const struct id id = id_of(listing, next - 1);

        buf_printf(listing->out, "\",\"next\":\"%.*s\"}}\n", STR_ARG(id_str(&id)));
    } else {
        buf_add(listing->out, STR("\",\"next\":null}}\n"));
    }
    return buf_ok(listing->out, err);
}

static bool write_record(struct listing *listing, uint32_t from, uint32_t to, size_t lines,
                         struct error *err)
{
    uint32_t record = from;
    size_t lines_written = 0;

    listing->sum = EVP_MD_CTX_new();
    if (listing->sum == NULL || EVP_DigestInit_ex(listing->sum, EVP_sha256(), NULL) != 1)
        return error_set(err, ERROR_FATAL, "crypto", "SHA-256 is not available");
    for (; record < to && lines_written < lines; record++) {
        const struct truth truth = truth_of(listing->world, &listing->query, record);

        listing->counts[truth.state]++;
        if (!truth_must_hold(truth.state) && !listing->all_versions &&
            (!listing->may || truth.state == TRUTH_ABSENT))
            continue;
        if (!write_one(listing, truth, err))
            return false;
        lines_written += !listing->summary;
    }
    return add_summary(listing, to - from == 1 ? UINT32_MAX : record, err);
}

static bool refuse(struct http_call *call, struct str why, struct error *err)
{
    call_respond(call, 400, STR("application/json"), STR("{\"error\":\""));
    buf_add(&call->response, why);
    buf_add(&call->response, STR("\"}\n"));
    return buf_ok(&call->response, err);
}

static bool take_instant(const struct http_call *call, struct str name, int64_t *at_us)
{
    struct api_date date;

    if (!call_has_param(call, name))
        return true;
    if (!api_date_parse(call_param(call, name), &date))
        return false;
    *at_us = date.from_us;
    return true;
}

bool truth_field(struct str name, enum view_order *field)
{
    static const struct str names[] = {
        [ORDER_UPDATED] = STR_INIT("updated"),     [ORDER_DEPOSITED] = STR_INIT("deposited"),
        [ORDER_CREATED] = STR_INIT("created"),     [ORDER_ENTREZ] = STR_INIT("entrez"),
        [ORDER_PUBLISHED] = STR_INIT("published"),
    };

    *field = ORDER_UPDATED;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (str_eq(names[i], name))
            *field = (enum view_order)i;
    }
    return name.len == 0 || str_eq(names[*field], name);
}

static bool take_query(struct sim_world *world, const struct http_call *call,
                       struct truth_query *query)
{
    *query = (struct truth_query){
        .form = body_form_find(call_param(call, STR("protocol"))),
        .from_us = world_options_of(world)->from_us,
        .to_us = world_options_of(world)->to_us,
        .at_us = call->now_us,
    };
    return query->form != NULL && truth_field(call_param(call, STR("field")), &query->field) &&
           take_instant(call, STR("from"), &query->from_us) &&
           take_instant(call, STR("to"), &query->to_us) &&
           take_instant(call, STR("at"), &query->at_us);
}

bool truth_respond(struct sim_world *world, struct http_call *call, struct error *err)
{
    const uint32_t records = world_corpus(world)->count;
    const struct str after = call_param(call, STR("after"));
    const struct str id = call_param(call, STR("id"));
    struct listing listing = { .world = world };
    size_t lines = LINES_PRESET;
    uint32_t from = 0, to = records;
    bool ok;

    call->page = PAGE_NONE;
    if (!take_query(world, call, &listing.query))
        return refuse(call, STR("protocol, field, from, to or at is not valid"), err);
    if (!page_param_number(call, STR("limit"), &lines) || lines > LINES_MAX)
        return refuse(call, STR("limit must be a number up to 100000"), err);
    if (after.len > 0 && !id_parse(listing.query.form->ids, after, records, &from))
        return refuse(call, STR("after is not an id of this world"), err);
    from += after.len > 0;
    if (id.len > 0) {
        if (!id_parse(listing.query.form->ids, id, records, &from))
            return refuse(call, STR("id is not an id of this world"), err);
        to = from + 1;
        listing.all_versions = true;
    }
    listing.may = call_has_param(call, STR("may"));
    listing.summary = call_has_param(call, STR("summary"));
    listing.out = page_begin(call, LINES);
    buf_init(&listing.scratch, call->arena, BODY_MAX);
    ok = write_record(&listing, from, to, listing.summary ? SIZE_MAX : lines, err);
    EVP_MD_CTX_free(listing.sum);
    return ok;
}
