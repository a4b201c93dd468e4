/* attempts: the requests of one batch before the one that counts: those that failed, whether they
 * were repeated, made smaller or given up, and responses that were requested again to be sure. The
 * digest of the batch keeps them:
 *
 *      "attempts":[{"at":"2026-02-03T10:00:00.120Z","status":503,"code":"answer.status",
 *                   "text":"status 503, text/html: \"...\"","bytes":312,"tookMs":41,
 *                   "then":"BACKOFF","waitMs":1000},
 *                  {"at":"...","code":"http.timeout.idle","text":"...","tookMs":30000,
 *                   "then":"SMALLER","ids":16}],
 *      "attemptsLeftOut":3
 *
 * status and bytes are absent where there was no response, retryAfterMs where the source asked for
 * no wait, then and waitMs where the request was not repeated, ids for a page. Of more than
 * ATTEMPTS_MAX the first are kept, and the last one.
 */
#ifndef PATRA_ENGINE_FETCH_ATTEMPTS_H
#define PATRA_ENGINE_FETCH_ATTEMPTS_H

#include "base/error.h"
#include "base/str.h"
#include "core/codes.h"
#include "data/json_write.h"

enum { ATTEMPTS_MAX = 20, ATTEMPT_TEXT_MAX = 200 };

/* Why another request was sent. */
enum attempt_then {
    ATTEMPT_NOTHING,     /* none was: it was given up */
    ATTEMPT_BACKOFF,     /* after a wait of our own */
    ATTEMPT_RETRY_AFTER, /* after the wait that the source asked for */
    ATTEMPT_CREDENTIAL,  /* at once, with another credential */
    ATTEMPT_SMALLER,     /* at once, for less */
    ATTEMPT_CONFIRM,     /* at once: it was received, and what it says was doubtful */
};
extern const struct code_table ATTEMPT_THEN_CODES;

struct attempt_made {
    int64_t at_us; /* calendar */
    int status;    /* 0: no response */
    int64_t bytes;
    int64_t took_us;
    bool has_retry_after;
    int64_t retry_after_us;
    enum attempt_then then;
    size_t id_count;
    int64_t wait_us; /* before the next one; 0: none */
    const char *code;
    char text[ATTEMPT_TEXT_MAX];
};

struct attempts {
    struct attempt_made items[ATTEMPTS_MAX];
    int64_t count; /* of all, also of those that are not kept */
};

/* text: without secrets; long ones are cut. */
void attempts_add(struct attempts *attempts, struct attempt_made attempt, struct str text);

/* What followed the last one, and after which wait; 0: none. */
void attempts_followed(struct attempts *attempts, enum attempt_then then, int64_t wait_us);

/* Members of an open object; none where there were no attempts. */
void attempts_write(const struct attempts *attempts, struct json_writer *w);

#endif
