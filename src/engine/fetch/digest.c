/* What batch rows keep of responses, and the stats of a batch. */
#include "engine/fetch/digest.h"

#include <string.h>

#include "base/buf.h"
#include "base/instant.h"
#include "data/hash.h"

enum { DIGEST_BYTES_MAX = 64 << 10 };

/* ---- foreign bytes ---- */

/* The beginning of a text of the source, in a form that every store takes: PostgreSQL's jsonb has
 * no NUL. */
static void write_excerpt(struct json_writer *w, struct str member, struct str text)
{
    char excerpt[DIGEST_TEXT_BYTES];
    const size_t len = text.len < sizeof(excerpt) ? text.len : sizeof(excerpt);

    for (size_t i = 0; i < len; i++)
        excerpt[i] = text.data[i] != '\0' ? text.data[i] : ' ';
    json_write_member_str(w, member, (struct str){ excerpt, len });
}

/* ---- parts ---- */

static void write_hints(struct json_writer *w, const struct rate_hints *hints)
{
    json_write_name(w, STR("headerHints"));
    json_write_object(w);
    json_write_name(w, STR("retryAfterMs"));
    if (hints->has_retry_after)
        json_write_i64(w, hints->retry_after_us / US_PER_MS);
    else
        json_write_null(w);
    if (hints->has_remaining)
        json_write_member_i64(w, STR("rateLimitRemaining"), hints->remaining);
    if (hints->limit > 0)
        json_write_member_i64(w, STR("rateLimit"), hints->limit);
    json_write_end(w);
}

/* Written only where there is one. */
static void write_instant(struct json_writer *w, struct str member, int64_t at_us)
{
    char text[INSTANT_TEXT_MAX];

    if (at_us > 0)
        json_write_member_str(w, member, (struct str){ text, instant_format(at_us, text) });
}

static void write_rate(struct json_writer *w, const struct permit *permit)
{
    json_write_name(w, STR("rate"));
    json_write_object(w);
    if (permit->key.len > 0)
        json_write_member_str(w, STR("limitKey"), permit->key);
    if (permit->cost > 0)
        json_write_member_i64(w, STR("permitCost"), permit->cost);
    json_write_member_i64(w, STR("waitMs"), permit->waited_us / US_PER_MS);
    json_write_member_str(w, STR("decision"), code_of(&RATE_DECISION_CODES, (int)permit->decision));
    if (permit->rate > 0) {
        json_write_name(w, STR("r"));
        json_write_double(w, (double)permit->rate / MICRO);
    }
    if (permit->burst > 0) {
        json_write_name(w, STR("burst"));
        json_write_double(w, (double)permit->burst / MICRO);
    }
    write_instant(w, STR("cooldownUntil"), permit->cooldown_until_us);
    json_write_end(w);
}

/* What the provider itself says about what is left. */
static void write_quota(struct json_writer *w, const struct rate_hints *hints)
{
    if (!hints->has_remaining && hints->limit == 0)
        return;
    json_write_name(w, STR("quota"));
    json_write_object(w);
    if (hints->has_remaining)
        json_write_member_i64(w, STR("remaining"), hints->remaining);
    if (hints->limit > 0)
        json_write_member_i64(w, STR("limit"), hints->limit);
    write_instant(w, STR("windowReset"), hints->reset_at_us);
    json_write_end(w);
}

static void write_paths(struct json_writer *w, const struct spec_endpoint *endpoint)
{
    json_write_member_str(w, STR("itemsPath"), endpoint->response.items.text);
    if (endpoint->page.next.text.len > 0)
        json_write_member_str(w, STR("nextTokenPath"), endpoint->page.next.text);
    if (endpoint->page.next_header.len > 0)
        json_write_member_str(w, STR("nextHeader"), endpoint->page.next_header);
}

static bool write_sample(struct json_writer *w, struct str body, struct error *err)
{
    char text[8 + HASH_HEX_MAX] = "sha256:";
    struct hash_sum sum;

    if (body.len == 0)
        return true;
    if (!hash_of(str_slice(body, 0, DIGEST_SAMPLE_BYTES), &sum, err))
        return false;
    hash_hex(&sum, text + strlen(text));
    json_write_member_str(w, STR("sample"), str_of(text));
    return true;
}

static void write_failure(struct json_writer *w, const struct digest_input *input)
{
    const struct http_response *reply = input->reply;

    json_write_name(w, STR("error"));
    json_write_object(w);
    json_write_member_str(w, STR("level"), str_of(error_level_name(input->error->level)));
    json_write_member_str(w, STR("code"), str_of(input->error->code));
    if (input->response->rule != NULL && input->response->rule->code.len > 0)
        json_write_member_str(w, STR("rule"), input->response->rule->code);
    json_write_end(w);
    /* The body of a refusal may quote our key in a form that cannot be recognised. */
    if (input->response->excerpt.len > 0 && reply->status != 401 && reply->status != 403)
        write_excerpt(w, STR("body"), input->response->excerpt);
}

static void write_listing(struct json_writer *w, const struct listing *listing)
{
    json_write_member_i64(w, STR("items"), (int64_t)listing->items);
    if (listing->has_total)
        json_write_member_i64(w, STR("total"), listing->total);
    if (listing->next.data != NULL)
        write_excerpt(w, STR("nextHint"), listing->next);
}

bool digest_response(const struct digest_input *input, struct arena *arena, struct str *json,
                     struct error *err)
{
    const struct http_response *reply = input->reply;
    struct json_writer w;
    struct buf out;

    buf_init(&out, arena, DIGEST_BYTES_MAX + 8 * DIGEST_TEXT_BYTES);
    json_writer_init(&w, &out);
    json_write_object(&w);
    json_write_member_i64(&w, STR("status"), reply->status);
    json_write_member_i64(&w, STR("bytes"), (int64_t)reply->body.len);
    if (input->listing != NULL)
        write_listing(&w, input->listing);
    json_write_member_bool(&w, STR("hasNext"), input->has_next);
    write_hints(&w, &input->response->hints);
    write_paths(&w, input->endpoint);
    if (reply->address.len > 0)
        json_write_member_str(&w, STR("address"), reply->address);
    if (reply->version > 0)
        json_write_member_i64(&w, STR("httpVersion"), reply->version);
    if (!write_sample(&w, reply->body, err))
        return false;
    if (input->error != NULL)
        write_failure(&w, input);
    attempts_write(input->attempts, &w);
    write_rate(&w, input->permit);
    write_quota(&w, &input->response->hints);
    json_write_end(&w);
    *json = buf_str(&out);
    return buf_ok(&out, err);
}

/* ---- stats ---- */

static void write_next_hint(struct json_writer *w, const struct fetch_batch *batch)
{
    json_write_name(w, STR("nextHint"));
    json_write_object(w);
    if (batch->after.data != NULL)
        write_excerpt(w, batch->after_is_url ? STR("url") : STR("token"), batch->after);
    if (batch->has_page_no && batch->has_next)
        json_write_member_i64(w, STR("page"), batch->page_no + 1);
    json_write_end(w);
}

static void write_doubts(struct json_writer *w, const struct fetch_verdict *verdict)
{
    json_write_name(w, STR("doubts"));
    json_write_array(w);
    for (int i = 0; i < FETCH_DOUBTS; i++) {
        if (verdict->doubts[i])
            json_write_str(w, str_of(fetch_doubt_name((enum fetch_doubt)i)));
    }
    json_write_end(w);
}

void fetch_stats_write(struct json_writer *writer, const struct fetch_batch *batch)
{
    const struct fetch_counts *counts = &batch->counts;

    json_write_member_i64(writer, STR("itemsCount"), counts->items);
    json_write_member_i64(writer, STR("droppedCount"), counts->dropped);
    json_write_member_i64(writer, STR("reqCount"), counts->requests);
    json_write_member_i64(writer, STR("latencyMs"), counts->latency_us / US_PER_MS);
    json_write_member_i64(writer, STR("maxLatencyMs"), counts->latency_max_us / US_PER_MS);
    json_write_member_i64(writer, STR("waitMs"), counts->waited_us / US_PER_MS);
    json_write_member_i64(writer, STR("retryCount"), counts->retries);
    json_write_member_i64(writer, STR("429Count"), counts->throttled);
    json_write_member_i64(writer, STR("retryAfterHits"), counts->retry_afters);
    json_write_member_bool(writer, STR("hasNext"), batch->has_next);
    write_next_hint(writer, batch);
    json_write_name(writer, STR("http"));
    json_write_object(writer);
    json_write_member_i64(writer, STR("status"), counts->status);
    json_write_member_i64(writer, STR("bytes"), counts->bytes);
    json_write_end(writer);
    json_write_name(writer, STR("selfHealing"));
    json_write_object(writer);
    json_write_member_bool(writer, STR("qpsDownshift"), counts->slowed > 0);
    json_write_member_bool(writer, STR("requestedAgain"), counts->repeated);
    json_write_member_bool(writer, STR("pageSizeShrink"), counts->page_shrunk);
    json_write_end(writer);
    if (batch->is_last)
        write_doubts(writer, &batch->verdict);
}
