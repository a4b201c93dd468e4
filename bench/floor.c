/* floor: the least a harvest must do: fetch a page, scan it, upsert its records, add an event for
 * each that is new or newer, one transaction per page. It uses libcurl and SQLite directly: no
 * ports, no checks beyond the date, no lineage, no run or batch rows. bench_harvest compares patra
 * with this.
 *
 *      floor [PAGE [RECORDS]]          starts patra-sim, and harvests its generic API twice:
 *                                      all new, then nothing changed
 *      floor PAGE RECORDS URL          the same from a running server
 *
 * One thread, one page after the other. Prints; asserts nothing.
 */
#include <curl/curl.h>
#include <inttypes.h>
#include <libgen.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "data/date_read.h"
#include "data/json.h"
#include "seconds.h"

enum { PAGE_MAX_BYTES = 64 << 20, PATH_BYTES = 256 };

static const char SCHEMA[] =
    "PRAGMA page_size = 32768; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
    "CREATE TABLE record (id INTEGER PRIMARY KEY, provider_id TEXT NOT NULL UNIQUE,"
    " updated_at INTEGER NOT NULL, version INTEGER NOT NULL, payload BLOB NOT NULL);"
    "CREATE TABLE outbox (id INTEGER PRIMARY KEY, provider_id TEXT NOT NULL,"
    " version INTEGER NOT NULL, updated_at INTEGER NOT NULL, UNIQUE (provider_id, version));"
    "CREATE TABLE batch (id INTEGER PRIMARY KEY, number INTEGER NOT NULL UNIQUE, records INTEGER);";

static const char UPSERT[] =
    "INSERT INTO record (provider_id, updated_at, version, payload) VALUES (?1, ?2, 1, ?3)"
    " ON CONFLICT (provider_id) DO UPDATE SET updated_at = ?2, version = version + 1, payload = ?3"
    " WHERE ?2 > updated_at RETURNING version";
static const char EVENT[] =
    "INSERT INTO outbox (provider_id, version, updated_at) VALUES (?1, ?2, ?3)";
static const char BATCH[] = "INSERT INTO batch (number, records) VALUES (?1, ?2)";

struct floor {
    CURL *curl;
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

static void open_all(struct floor *floor, const char *path)
{
    floor->curl = curl_easy_init();
    floor->body = malloc(PAGE_MAX_BYTES);
    must(floor->curl != NULL && floor->body != NULL, "no memory");
    (void)curl_easy_setopt(floor->curl, CURLOPT_WRITEFUNCTION, take);
    (void)curl_easy_setopt(floor->curl, CURLOPT_WRITEDATA, floor);
    (void)curl_easy_setopt(floor->curl, CURLOPT_BUFFERSIZE, 512L << 10);
    arena_init(&floor->arena, (size_t)PAGE_MAX_BYTES);
    must(sqlite3_open(path, &floor->db) == SQLITE_OK, "no database");
    must(sqlite3_exec(floor->db, SCHEMA, NULL, NULL, NULL) == SQLITE_OK, "no schema");
    must(sqlite3_prepare_v2(floor->db, UPSERT, -1, &floor->upsert, NULL) == SQLITE_OK &&
             sqlite3_prepare_v2(floor->db, EVENT, -1, &floor->event, NULL) == SQLITE_OK &&
             sqlite3_prepare_v2(floor->db, BATCH, -1, &floor->batch, NULL) == SQLITE_OK,
         "no statement");
}

static void close_all(struct floor *floor)
{
    (void)sqlite3_finalize(floor->upsert);
    (void)sqlite3_finalize(floor->event);
    (void)sqlite3_finalize(floor->batch);
    (void)sqlite3_close(floor->db);
    curl_easy_cleanup(floor->curl);
    arena_release(&floor->arena);
    free(floor->body);
}

static void store_item(struct floor *floor, const struct json_doc *doc, struct json_node item)
{
    const struct str id = json_string_raw(doc, json_get(doc, item, STR("id")));
    const struct str text = json_string_raw(doc, json_get(doc, item, STR("updated_at")));
    const struct str payload = json_raw(doc, item);
    struct date date;

    must(date_read_rfc3339(text, &date), "no date");
    (void)sqlite3_bind_text(floor->upsert, 1, id.data, (int)id.len, SQLITE_STATIC);
    (void)sqlite3_bind_int64(floor->upsert, 2, date.at_us);
    (void)sqlite3_bind_blob(floor->upsert, 3, payload.data, (int)payload.len, SQLITE_STATIC);
    if (sqlite3_step(floor->upsert) == SQLITE_ROW) {
        (void)sqlite3_bind_text(floor->event, 1, id.data, (int)id.len, SQLITE_STATIC);
        (void)sqlite3_bind_int64(floor->event, 2, sqlite3_column_int64(floor->upsert, 0));
        (void)sqlite3_bind_int64(floor->event, 3, date.at_us);
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
    must(sqlite3_exec(floor->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK, "begin");
    for (items = json_each(&doc, json_get(&doc, json_root(&doc), STR("items"))); json_next(&items);
         count++)
        store_item(floor, &doc, items.value);
    (void)sqlite3_bind_int64(floor->batch, 1, ++floor->batches);
    (void)sqlite3_bind_int64(floor->batch, 2, count);
    must(sqlite3_step(floor->batch) == SQLITE_DONE, sqlite3_errmsg(floor->db));
    (void)sqlite3_reset(floor->batch);
    must(sqlite3_exec(floor->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK, "commit");
    return count;
}

static void harvest(struct floor *floor, const char *base, int page, int64_t records,
                    const char *label)
{
    const double start_s = now_s();
    char url[PATH_BYTES];
    int64_t count = 0;
    int64_t last;
    double took_s;

    floor->written = 0;
    do {
        (void)snprintf(url, sizeof(url), "%s/generic/offset?offset=%" PRId64 "&limit=%d", base,
                       count, page);
        floor->len = 0;
        (void)curl_easy_setopt(floor->curl, CURLOPT_URL, url);
        must(curl_easy_perform(floor->curl) == CURLE_OK, "no reply");
        last = store_page(floor);
        count += last;
    } while (last == page && count < records);
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
    struct floor floor = { 0 };
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
