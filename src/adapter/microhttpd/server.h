/* server: the parts of a web server on libmicrohttpd (port/web.h).
 *
 *      the library's thread                        seats: a thread each
 *      ──────────────────────                      ────────────────────
 *      receives headers and body  (exchange.c)
 *      suspends the connection ──── job ─────▶     the handler answers    (seats.c)
 *      sends the response  ◀─────── resumes ───
 *      has sent all there is: suspends ─ job ─▶    the stream gives more
 *                                                  or nothing: it rests, suspended, and is asked
 *                                                  again a second later
 *
 * So the library's thread never waits for anything but sockets. A third thread (deadline.c) cuts
 * connections off that keep within the library's idle time but take too long as a whole.
 */
#ifndef PATRA_ADAPTER_MICROHTTPD_SERVER_H
#define PATRA_ADAPTER_MICROHTTPD_SERVER_H

#include <microhttpd.h>
#include <pthread.h>

#include "port/web.h"

/* ---- deadlines of connections ---- */

struct deadline {
    int fd;           /* -1: the place is free */
    int64_t until_us; /* monotonic; 0: none */
};

struct deadlines {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    pthread_t thread;
    bool is_started, is_ending;
    struct deadline *items;
    size_t count;
};

bool deadlines_start(struct deadlines *deadlines, size_t count, struct error *err) MUST_CHECK;
void deadlines_stop(struct deadlines *deadlines); /* accepts the zero value */
/* A place for a connection; NULL: there is none left, and it has no deadline. */
struct deadline *deadline_take(struct deadlines *deadlines, int fd, int64_t in_us);
void deadline_set(struct deadlines *deadlines, struct deadline *place, int64_t in_us); /* 0: none */
int64_t deadline_clock_us(void); /* monotonic */
void deadline_give_back(struct deadlines *deadlines, struct deadline *place);

/* ---- jobs ---- */

struct exchange;

struct seats {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t threads[WEB_SEATS_MAX];
    int count;
    bool is_ending;         /* the threads end when there is no job */
    bool is_closed;         /* no further jobs are taken */
    struct exchange *first; /* waiting jobs, the oldest first */
    struct exchange *last;
    int waiting;
    int busy;
    struct exchange *resting; /* streams that had nothing, those that rest longest first */
    struct exchange *resting_last;
};

bool seats_start(struct seats *seats, int count, struct web_server *server,
                 struct error *err) MUST_CHECK;
/* False: there is no room for the job, or the server stops. `is_begun`: it has been answered in
 * part, so it is taken however many wait. Suspends the connection where it is taken. */
bool seats_take(struct seats *seats, struct exchange *exchange, bool is_begun) MUST_CHECK;
void seats_close(struct seats *seats); /* takes no further jobs and waits until there is none */
void seats_stop(struct seats *seats);  /* accepts the zero value */

/* ---- one request and its response ---- */

enum exchange_state {
    EXCHANGE_NEW,
    EXCHANGE_RECEIVING,
    EXCHANGE_WAITING, /* for the handler */
    EXCHANGE_ANSWERED,
    EXCHANGE_SENDING,
};

struct exchange {
    struct web_server *server;
    struct MHD_Connection *connection;
    struct exchange *next; /* in the queue, or among those that rest */
    int64_t rests_until_us;
    enum exchange_state state;
    struct arena arena;
    struct web_request request;
    struct web_response response;
    struct buf body;
    bool is_too_large;
    struct arena chunk_arena; /* of a stream: what is sent next */
    struct buf chunk;
    size_t chunk_sent;
    bool is_end, is_broken;
};

/* Runs at a seat: the handler, or the next piece of its stream. False: the stream has nothing at
 * the moment. */
bool exchange_work(struct exchange *exchange, int seat);

/* The library's callbacks. */
void *exchange_open(void *server, const char *target, struct MHD_Connection *connection);
enum MHD_Result exchange_go_on(void *server, struct MHD_Connection *connection, const char *url,
                               const char *method, const char *version, const char *upload,
                               size_t *upload_size, void **context);
void exchange_close(void *server, struct MHD_Connection *connection, void **context,
                    enum MHD_RequestTerminationCode why);

/* ---- all of it ---- */

struct web_server {
    struct web_settings settings;
    struct MHD_Daemon *daemon;
    int port;
    struct seats seats;
    struct deadlines deadlines;
    pthread_mutex_t lock;
    pthread_cond_t drained;
    int open; /* exchanges */
};

bool web_server_start(struct web_server **server, const struct web_settings *settings,
                      struct error *err) MUST_CHECK;
int web_server_port(const struct web_server *server);
void web_server_stop(struct web_server *server); /* accepts NULL */

#endif
