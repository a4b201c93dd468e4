/* Reads the audit and the truth of patra-sim, and the planned slices of a store. */
#include "sim_requests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/instant.h"
#include "cli.h"
#include "page_need.h"
#include "run.h"
#include "sql.h"
#include "test.h"

enum { TEXT_BYTES = 1024 };

static struct str get(const struct sim *sim, const char *path)
{
    char url[TEXT_BYTES];
    struct run run;

    (void)snprintf(url, sizeof(url), "%s%s", sim->base, path);
    run = RUN("/usr/bin/curl", "-sf", url);
    REQUIRE(run.code == 0, url);
    return run.out;
}

/* ---- the audit ---- */

/* The requests that got a response with status 200 and no fault. */
static int64_t good_requests(struct str audit)
{
    const int64_t others =
        cli_number(audit, "summary.requests") - cli_number(audit, "summary.faults");
    const char *name = "\"200\":";
    const char *found = strstr(audit.data, name);
    const int64_t with_200 = found != NULL ? strtoll(found + strlen(name), NULL, 10) : 0;

    return with_200 < others ? with_200 : others;
}

/* The largest page that a request named. */
static int64_t page_size(struct str audit)
{
    static const char *const names[] = { "limit=", "retmax=", "size=", "rows=" };
    int64_t largest = 0;

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *at = audit.data;

        while ((at = strstr(at, names[i])) != NULL) {
            const int64_t size = strtoll(at += strlen(names[i]), NULL, 10);

            largest = size > largest ? size : largest;
        }
    }
    return largest;
}

/* ---- the slices ---- */

static int64_t of_slices(const struct sim_requests_ask *ask, const char *what, int64_t skip)
{
    char sql[TEXT_BYTES];

    (void)snprintf(sql, sizeof(sql),
                   "SELECT %s FROM ing_task t JOIN ing_plan_slice s ON s.id = t.slice_id"
                   " WHERE s.parent_slice_id IS NULL AND t.provenance_code = '%s'%s LIMIT 1"
                   " OFFSET %lld",
                   what, ask->source, strncmp(what, "count", 5) == 0 ? "" : " ORDER BY t.id",
                   (long long)skip);
    return sql_number(ask->store, sql);
}

/* An edge of a slice's window; 0: it has none. */
static int64_t edge_of(const struct sim_requests_ask *ask, const char *column, int64_t number)
{
    char what[TEXT_BYTES];

    if (ask->store[0] == '/')
        (void)snprintf(what, sizeof(what), "coalesce(t.%s, 0)", column);
    else
        (void)snprintf(what, sizeof(what),
                       "coalesce((extract(epoch FROM t.%s) * 1000000)::bigint, 0)", column);
    return of_slices(ask, what, number);
}

static int64_t records_of(const struct sim *sim, const struct sim_requests_ask *ask,
                          const char *window)
{
    static const char *const states[] = { "summary.live", "summary.deleted", "summary.merged" };
    char path[TEXT_BYTES];
    struct str truth;
    int64_t count = 0;

    (void)snprintf(path, sizeof(path), "/_sim/truth?protocol=%s&summary=1%s", ask->protocol,
                   window);
    truth = get(sim, path);
    for (size_t i = 0; i < ARRAY_LEN(states); i++) {
        const int64_t of_state = cli_number(truth, states[i]);

        REQUIRE(of_state >= 0, states[i]);
        count += of_state;
    }
    return count;
}

static int64_t records_of_slice(const struct sim *sim, const struct sim_requests_ask *ask,
                                int64_t number)
{
    const int64_t from_us = edge_of(ask, "window_from", number) - ask->overlap_us;
    const int64_t to_us = edge_of(ask, "window_to", number);
    char from[INSTANT_TEXT_MAX], to[INSTANT_TEXT_MAX], window[128];

    if (to_us == 0) /* the part of a feed that is new; once it is all of it */
        return number == 0 ? records_of(sim, ask, "") : 0;
    (void)snprintf(window, sizeof(window), "&from=%.*s&to=%.*s", (int)instant_format(from_us, from),
                   from, (int)instant_format(to_us, to), to);
    return records_of(sim, ask, window);
}

void sim_requests_check(const struct sim *sim, const struct sim_requests_ask *ask)
{
    const struct str audit = get(sim, "/_sim/audit?requests=1");
    struct page_need slice = { .paging = NEED_OFFSET,
                               .size = page_size(audit),
                               .shows_end = true,
                               .id_batch = ask->id_batch,
                               .cap = ask->cap,
                               .halvings = ask->halvings };
    const int64_t slices = of_slices(ask, "count(*)", 0);
    int64_t need = 0;

    REQUIRE(slice.size > 0, "a request names the size of its page");
    REQUIRE(good_requests(audit) > 0, "not all responses were spoiled");
    for (int64_t i = 0; i < slices; i++) {
        slice.records = records_of_slice(sim, ask, i);
        need += page_need(&slice);
    }
    page_need_check(ask->source, good_requests(audit), need);
}
