/* floor: the least a harvest must do: fetch a page, scan it, hash and upsert its records, add an
 * event for each that is new or newer. Pages share a transaction up to GROUP_RECORDS records, and a
 * thread of its own copies the log into the database. It uses libcurl and SQLite directly: no
 * ports, no checks beyond the date, no lineage, no run rows. bench_harvest and harvest_table.py
 * compare patra with this.
 *
 *      floor [PAGE [RECORDS]]          starts patra-sim, and harvests its generic API twice:
 *                                      all new, then nothing changed
 *      floor PAGE RECORDS URL          the same from a running server
 *      floor PAGE RECORDS URL crossref the same by the simulator's Crossref
 *
 * One thread, one page after the other. Prints; asserts nothing.
 */
#include <curl/curl.h>
#include <inttypes.h>
#include <libgen.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "data/date_read.h"
#include "data/hash.h"
#include "data/json.h"
#include "seconds.h"

enum {
    PAGE_MAX_BYTES = 64 << 20,
    PATH_BYTES = 256,
    URL_BYTES = 8192,
    GROUP_RECORDS = 1000,
    LOG_PAGES_MAX = 8000, /* of 32 KB; then the writer waits for the copy */
};

static const char SCHEMA[] =
    "PRAGMA page_size = 32768; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
    "PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -32768;"
    "CREATE TABLE record (id INTEGER PRIMARY KEY, provider_id TEXT NOT NULL UNIQUE,"
    " updated_at INTEGER NOT NULL, version INTEGER NOT NULL, hash BLOB NOT NULL,"
    " payload BLOB NOT NULL);"
    "CREATE TABLE outbox (id INTEGER PRIMARY KEY, provider_id TEXT NOT NULL,"
    " version INTEGER NOT NULL, updated_at INTEGER NOT NULL, UNIQUE (provider_id, version));"
    "CREATE TABLE batch (id INTEGER PRIMARY KEY, number INTEGER NOT NULL UNIQUE, records INTEGER);";

static const char UPSERT[] =
    "INSERT INTO record (provider_id, updated_at, version, hash, payload)"
    " VALUES (?1, ?2, 1, ?4, ?3) ON CONFLICT (provider_id) DO UPDATE SET updated_at = ?2,"
    " version = version + 1, hash = ?4, payload = ?3"
    " WHERE ?2 > updated_at RETURNING version";
static const char EVENT[] =
    "INSERT INTO outbox (provider_id, version, updated_at) VALUES (?1, ?2, ?3)";
static const char BATCH[] = "INSERT INTO batch (number, records) VALUES (?1, ?2)";

struct floor {
    bool is_crossref;
    CURL *curl;
    struct hash hash;
    const char *path;
    pthread_t copier;
    int log_pages; /* after the last commit */
    volatile bool is_over;
    int64_t in_group;      /* records of the open transaction */
    char token[URL_BYTES]; /* of the next page */
    sqlite3 *db;
    sqlite3_stmt *upsert;
    sqlite3_stmt *event;
    sqlite3_stmt *batch;
    struct arena arena;
    char *body;
    size_t len;
    int64_t batches;
    int64_t written;
};

static void must(bool ok, const char *what)
{
    if (!ok) {
        (void)fprintf(stderr, "floor: %s\n", what);
        exit(1);
    }
}

static size_t take(char *bytes, size_t size, size_t count, void *context)
{
    struct floor *floor = context;

    if (floor->len + size * count > PAGE_MAX_BYTES)
        return 0;
    memcpy(floor->body + floor->len, bytes, size * count);
    floor->len += size * count;
    return size * count;
}

/* ---- the log ---- */

static int on_commit(void *context, sqlite3 *db, const char *name, int pages)
{
    (void)db;
    (void)name;
    ((struct floor *)context)->log_pages = pages;
    return SQLITE_OK;
}

static void *copy_log(void *context)
{
    struct floor *floor = context;
    sqlite3 *db;

    must(sqlite3_open(floor->path, &db) == SQLITE_OK, "no database");
    while (!floor->is_over) {
        (void)usleep(5000);
        (void)sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    }
    (void)sqlite3_close(db);
    return NULL;
}

static void begin_group(struct floor *floor)
{
    if (floor->log_pages > LOG_PAGES_MAX)
        (void)sqlite3_wal_checkpoint_v2(floor->db, NULL, SQLITE_CHECKPOINT_RESTART, NULL, NULL);
    must(sqlite3_exec(floor->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK, "begin");
}

static void end_group(struct floor *floor)
{
    floor->in_group = 0;
    must(sqlite3_exec(floor->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK, "commit");
}

/* ---- all of it ---- */

static void open_all(struct floor *floor, const char *path)
{
    floor->path = path;
    floor->curl = curl_easy_init();
    floor->body = malloc(PAGE_MAX_BYTES);
    must(floor->curl != NULL && floor->body != NULL, "no memory");
    (void)curl_easy_setopt(floor->curl, CURLOPT_WRITEFUNCTION, take);
    (void)curl_easy_setopt(floor->curl, CURLOPT_WRITEDATA, floor);
    (void)curl_easy_setopt(floor->curl, CURLOPT_BUFFERSIZE, 512L << 10);
    arena_init(&floor->arena, (size_t)PAGE_MAX_BYTES);
    must(sqlite3_open(path, &floor->db) == SQLITE_OK, "no database");
    must(sqlite3_exec(floor->db, SCHEMA, NULL, NULL, NULL) == SQLITE_OK, "no schema");
    (void)sqlite3_wal_hook(floor->db, on_commit, floor);
    must(pthread_create(&floor->copier, NULL, copy_log, floor) == 0, "no thread");
    must(sqlite3_prepare_v2(floor->db, UPSERT, -1, &floor->upsert, NULL) == SQLITE_OK &&
             sqlite3_prepare_v2(floor->db, EVENT, -1, &floor->event, NULL) == SQLITE_OK &&
             sqlite3_prepare_v2(floor->db, BATCH, -1, &floor->batch, NULL) == SQLITE_OK,
         "no statement");
}

static void close_all(struct floor *floor)
{
    floor->is_over = true;
    (void)pthread_join(floor->copier, NULL);
    hash_release(&floor->hash);
    (void)sqlite3_finalize(floor->upsert);
    (void)sqlite3_finalize(floor->event);
    (void)sqlite3_finalize(floor->batch);
    (void)sqlite3_close(floor->db);
    curl_easy_cleanup(floor->curl);
    arena_release(&floor->arena);
    free(floor->body);
}

static int64_t date_of(const struct floor *floor, const struct json_doc *doc, struct json_node item)
{
    struct date date;
    int64_t at_ms;

    if (floor->is_crossref) {
        const struct json_node indexed = json_get(doc, item, STR("indexed"));

        must(json_i64(doc, json_get(doc, indexed, STR("timestamp")), &at_ms), "no date");
        return at_ms * 1000;
    }
    must(date_read_rfc3339(json_string_raw(doc, json_get(doc, item, STR("updated_at"))), &date),
         "no date");
    return date.at_us;
}

/* The items of a page; of Crossref also where the next one is. */
static struct json_node items_of(struct floor *floor, const struct json_doc *doc)
{
    struct json_node page = json_root(doc);

    if (floor->is_crossref) {
        struct str next;

        page = json_get(doc, page, STR("message"));
        next = json_string_raw(doc, json_get(doc, page, STR("next-cursor")));
        (void)snprintf(floor->token, sizeof(floor->token), "%.*s", STR_ARG(next));
    }
    return json_get(doc, page, STR("items"));
}

static void store_item(struct floor *floor, const struct json_doc *doc, struct json_node item)
{
    const struct str id =
        json_string_raw(doc, json_get(doc, item, floor->is_crossref ? STR("DOI") : STR("id")));
    const int64_t at_us = date_of(floor, doc, item);
    const struct str payload = json_raw(doc, item);
    struct hash_sum sum;
    struct error err = { 0 };

    must(hash_of_next(&floor->hash, payload, &sum, &err), err.text);
    (void)sqlite3_bind_text(floor->upsert, 1, id.data, (int)id.len, SQLITE_STATIC);
    (void)sqlite3_bind_int64(floor->upsert, 2, at_us);
    (void)sqlite3_bind_blob(floor->upsert, 4, sum.bytes, sizeof(sum.bytes), SQLITE_STATIC);
    (void)sqlite3_bind_blob(floor->upsert, 3, payload.data, (int)payload.len, SQLITE_STATIC);
    if (sqlite3_step(floor->upsert) == SQLITE_ROW) {
        (void)sqlite3_bind_text(floor->event, 1, id.data, (int)id.len, SQLITE_STATIC);
        (void)sqlite3_bind_int64(floor->event, 2, sqlite3_column_int64(floor->upsert, 0));
        (void)sqlite3_bind_int64(floor->event, 3, at_us);
        must(sqlite3_step(floor->event) == SQLITE_DONE, sqlite3_errmsg(floor->db));
        (void)sqlite3_reset(floor->event);
        floor->written++;
    }
    must(sqlite3_reset(floor->upsert) == SQLITE_OK, sqlite3_errmsg(floor->db));
}

static int64_t store_page(struct floor *floor)
{
    struct json_doc doc;
    struct json_iter items;
    struct error err = { 0 };
    int64_t count = 0;

    arena_reset(&floor->arena);
    must(json_parse(&doc, &floor->arena, (struct str){ floor->body, floor->len }, &err), err.text);
    if (floor->in_group == 0)
        begin_group(floor);
    for (items = json_each(&doc, items_of(floor, &doc)); json_next(&items); count++)
        store_item(floor, &doc, items.value);
    (void)sqlite3_bind_int64(floor->batch, 1, ++floor->batches);
    (void)sqlite3_bind_int64(floor->batch, 2, count);
    must(sqlite3_step(floor->batch) == SQLITE_DONE, sqlite3_errmsg(floor->db));
    (void)sqlite3_reset(floor->batch);
    floor->in_group += count;
    if (floor->in_group >= GROUP_RECORDS)
        end_group(floor);
    return count;
}

/* The token as a part of a URL. */
static const char *escaped(struct floor *floor)
{
    static char text[2 * URL_BYTES];
    char *copy = curl_easy_escape(floor->curl, floor->token, 0);

    must(copy != NULL && strlen(copy) < sizeof(text), "no room for a token");
    (void)strcpy(text, copy);
    curl_free(copy);
    return text;
}

static void harvest(struct floor *floor, const char *base, int page, int64_t records,
                    const char *label)
{
    const double start_s = now_s();
    char url[PATH_BYTES + 2 * URL_BYTES];
    int64_t count = 0;
    int64_t last;
    double took_s;

    floor->written = 0;
    (void)snprintf(floor->token, sizeof(floor->token), "*");
    do {
        if (floor->is_crossref)
            (void)snprintf(url, sizeof(url), "%s/crossref/works?cursor=%s&rows=%d", base,
                           escaped(floor), page);
        else
            (void)snprintf(url, sizeof(url), "%s/generic/offset?offset=%" PRId64 "&limit=%d", base,
                           count, page);
        floor->len = 0;
        (void)curl_easy_setopt(floor->curl, CURLOPT_URL, url);
        must(curl_easy_perform(floor->curl) == CURLE_OK, "no reply");
        last = store_page(floor);
        count += last;
    } while (last == page && count < records);
    if (floor->in_group > 0)
        end_group(floor);
    took_s = now_s() - start_s;
    (void)printf("floor, pages of %d, %-10s %8.0f records/s   %" PRId64 " records, %" PRId64
                 " written\n",
                 page, label, (double)count / took_s, count, floor->written);
    (void)fflush(stdout);
}

/* build/bench/floor starts build/patra-sim. */
static pid_t start_sim(char *self, int64_t records, char base[PATH_BYTES])
{
    char program[4096], number[32], line[PATH_BYTES] = "";
    int out[2];
    pid_t pid;

    (void)snprintf(program, sizeof(program), "%s/../patra-sim", dirname(self));
    (void)snprintf(number, sizeof(number), "%" PRId64, records);
    must(pipe(out) == 0, "no pipe");
    pid = fork();
    if (pid == 0) {
        (void)dup2(out[1], STDOUT_FILENO);
        (void)execl(program, program, "serve", "--audit-off", "repeat", "--records", number,
                    (char *)NULL);
        _exit(127);
    }
    (void)close(out[1]);
    must(read(out[0], line, sizeof(line) - 1) > 0 && sscanf(line, "listening %200s", base) == 1,
         "patra-sim does not start");
    (void)close(out[0]);
    return pid;
}

int main(int argc, char **argv)
{
    const int page = argc > 1 ? atoi(argv[1]) : 1000;
    const int64_t records = argc > 2 ? atoll(argv[2]) : 20000;
    char folder[] = "/tmp/floor.XXXXXX";
    char base[PATH_BYTES], path[64];
    struct floor floor = { .is_crossref = argc > 4 };
    pid_t sim = 0;

    must(mkdtemp(folder) != NULL, "no folder");
    if (argc > 3)
        (void)snprintf(base, sizeof(base), "%s", argv[3]);
    else
        sim = start_sim(argv[0], records, base);
    (void)snprintf(path, sizeof(path), "%s/a.db", folder);
    open_all(&floor, path);
    harvest(&floor, base, page, records, "fresh:");
    harvest(&floor, base, page, records, "unchanged:");
    close_all(&floor);
    (void)unlink(path);
    (void)rmdir(folder);
    if (sim > 0) {
        (void)kill(sim, SIGTERM);
        (void)waitpid(sim, NULL, 0);
    }
    return 0;
}
