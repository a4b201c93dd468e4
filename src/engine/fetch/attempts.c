/* Requests of a batch before the one that counts: kept up to a number, and written as JSON. */
#include "engine/fetch/attempts.h"

#include <string.h>

#include "base/instant.h"

static const struct code_item THEN[] = {
    [ATTEMPT_NOTHING] = CODE_ITEM("NOTHING", "given up"),
    [ATTEMPT_BACKOFF] = CODE_ITEM("BACKOFF", "sent again after a wait"),
    [ATTEMPT_RETRY_AFTER] = CODE_ITEM("RETRY_AFTER", "sent again when the source allowed it"),
    [ATTEMPT_CREDENTIAL] = CODE_ITEM("CREDENTIAL", "sent again with another credential"),
    [ATTEMPT_SMALLER] = CODE_ITEM("SMALLER", "less was requested"),
    [ATTEMPT_CONFIRM] = CODE_ITEM("CONFIRM", "sent again to confirm it"),
};
const struct code_table ATTEMPT_THEN_CODES =
    CODE_TABLE("ing_attempt_then", "what followed an attempt", THEN);

/* The item of the last attempt. */
static struct attempt_made *last(struct attempts *attempts)
{
    const int64_t most = ATTEMPTS_MAX;

    return &attempts->items[(attempts->count < most ? attempts->count : most) - 1];
}

/* Up to the room, and not in the middle of a character. */
static void copy_text(char out[ATTEMPT_TEXT_MAX], struct str text)
{
    size_t len = text.len < ATTEMPT_TEXT_MAX ? text.len : ATTEMPT_TEXT_MAX - 1;

    while (len > 0 && len < text.len && ((unsigned char)text.data[len] & 0xC0) == 0x80)
        len--;
    if (len > 0)
        memcpy(out, text.data, len);
    out[len] = '\0';
}

void attempts_add(struct attempts *attempts, struct attempt_made attempt, struct str text)
{
    attempts->count++;
    copy_text(attempt.text, text);
    *last(attempts) = attempt;
}

void attempts_followed(struct attempts *attempts, enum attempt_then then, int64_t wait_us)
{
    if (attempts->count == 0)
        return;
    last(attempts)->then = then;
    last(attempts)->wait_us = wait_us;
}

/* What came, and when. */
static void write_reply(struct json_writer *w, const struct attempt_made *attempt)
{
    if (attempt->status > 0)
        json_write_member_i64(w, STR("bytes"), attempt->bytes);
    json_write_member_i64(w, STR("tookMs"), attempt->took_us / US_PER_MS);
    if (attempt->has_retry_after)
        json_write_member_i64(w, STR("retryAfterMs"), attempt->retry_after_us / US_PER_MS);
}

static void write_one(struct json_writer *w, const struct attempt_made *attempt)
{
    json_write_object(w);
    json_write_member_instant(w, STR("at"), attempt->at_us);
    if (attempt->status > 0)
        json_write_member_i64(w, STR("status"), attempt->status);
    json_write_member_str(w, STR("code"), str_of(attempt->code));
    json_write_member_str(w, STR("text"), str_of(attempt->text));
    write_reply(w, attempt);
    if (attempt->then != ATTEMPT_NOTHING)
        json_write_member_str(w, STR("then"), code_of(&ATTEMPT_THEN_CODES, (int)attempt->then));
    if (attempt->wait_us > 0)
        json_write_member_i64(w, STR("waitMs"), attempt->wait_us / US_PER_MS);
    if (attempt->id_count > 0)
        json_write_member_i64(w, STR("ids"), (int64_t)attempt->id_count);
    json_write_end(w);
}

void attempts_write(const struct attempts *attempts, struct json_writer *w)
{
    if (attempts->count == 0)
        return;
    json_write_name(w, STR("attempts"));
    json_write_array(w);
    for (int64_t i = 0; i < attempts->count && i < ATTEMPTS_MAX; i++)
        write_one(w, &attempts->items[i]);
    json_write_end(w);
    if (attempts->count > ATTEMPTS_MAX)
        json_write_member_i64(w, STR("attemptsLeftOut"), attempts->count - ATTEMPTS_MAX);
}
