/* attempts: the requests of one batch that failed, whether they were repeated, made smaller or
 * given up. The digest of the batch keeps them:
 *
 *      "attempts":[{"at":"2026-02-03T10:00:00.120Z","status":503,"code":"answer.status",
 *                   "text":"status 503, text/html: \"...\"","waitMs":1000},
 *                  {"at":"...","code":"http.timeout.idle","text":"...","waitMs":2000,"ids":16}],
 *      "attemptsLeftOut":3
 *
 * status is absent where there was no response, waitMs where the request was not repeated after a
 * wait, ids for a page. Of more than ATTEMPTS_MAX the first are kept, and the last one.
 */
#ifndef PATRA_ENGINE_FETCH_ATTEMPTS_H
#define PATRA_ENGINE_FETCH_ATTEMPTS_H

#include "base/error.h"
#include "base/str.h"
#include "data/json_write.h"

enum { ATTEMPTS_MAX = 20, ATTEMPT_TEXT_MAX = 200 };

struct attempt_made {
    int64_t at_us; /* calendar */
    int status;    /* 0: no response */
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

/* After the last one. */
void attempts_waited(struct attempts *attempts, int64_t wait_us);

/* Members of an open object; none where there were no attempts. */
void attempts_write(const struct attempts *attempts, struct json_writer *w);

#endif
