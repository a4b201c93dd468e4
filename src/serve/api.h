/* api: the HTTP API (docs/api.md): routes over the views of the store, and the changes that
 * commands make.
 *
 *      target ─ route ─ access ─ parameters ─ the route's function ─ response
 *
 * It handles requests wherever they come from (port/web.h), so tests need no socket. Each seat has
 * a store session of its own. Where the store is out of reach a request is answered 503, and the
 * next one tries a new session.
 */
#ifndef PATRA_SERVE_API_H
#define PATRA_SERVE_API_H

#include "base/log.h"
#include "base/meter.h"
#include "engine/source/spec_cache.h"
#include "port/clock.h"
#include "port/random.h"
#include "port/secret.h"
#include "port/store.h"
#include "port/web.h"
#include "serve/access.h"
#include "view/why.h"

struct api_settings {    /* what is pointed to must outlive the API */
    struct store *store; /* further sessions are made of it */
    int seats;
    bool is_watched_only; /* nothing but health and metrics is answered */
    struct access_rules access;
    struct clock *clock;
    struct random_source *random;
    struct secret_source *secrets;
    struct spec_cache *specs;
    struct view_sinks *sinks; /* opens the databases of projections; NULL: they are not asked */
    struct meters *meters;    /* of this process's other work; NULL: none */
    struct log *log;          /* NULL: none */
};

struct api;
bool api_open(struct api **api, const struct api_settings *settings, struct error *err) MUST_CHECK;
void api_close(struct api *api); /* accepts NULL */

struct web_handler *api_handler(struct api *api);

const struct api_settings *api_settings(const struct api *api);

/* For routes that need no store but ask whether it answers; and for streams, at any seat. */
bool api_seat_store(struct api *api, int seat, struct store **store, struct error *err) MUST_CHECK;
/* After a failure at a seat: its next use opens a new session where that helps. */
void api_seat_failed(struct api *api, int seat, const struct error *err);

/* What the API itself counts. */
struct meters *api_meters(struct api *api);

/* Pages that are open (live.h). */
struct live;
struct live *api_live(struct api *api);

/* Who may sign in (access.h). */
struct access_guard *api_guard(struct api *api);

#endif
