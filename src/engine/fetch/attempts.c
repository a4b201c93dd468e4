/* Failed requests of a batch: kept up to a number, and written as JSON. */
#include "engine/fetch/attempts.h"

#include <string.h>

#include "base/instant.h"

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

void attempts_waited(struct attempts *attempts, int64_t wait_us)
{
    if (attempts->count > 0)
        last(attempts)->wait_us = wait_us;
}

static void write_one(struct json_writer *w, const struct attempt_made *attempt)
{
    json_write_object(w);
    json_write_member_instant(w, STR("at"), attempt->at_us);
    if (attempt->status > 0)
        json_write_member_i64(w, STR("status"), attempt->status);
    json_write_member_str(w, STR("code"), str_of(attempt->code));
    json_write_member_str(w, STR("text"), str_of(attempt->text));
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
