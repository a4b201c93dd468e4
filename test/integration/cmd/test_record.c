/* patra record, as a user runs it. What exports must hold is read by SQL, and the files are read by
 * Python's own readers. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "cli.h"
#include "random.h"
#include "run.h"
#include "sim_source.h"
#include "sql.h"
#include "test.h"

enum { MANY = 40000, KILLS = 10, PATH_BYTES = 512 };

#define LIVE "SELECT count(*) FROM ing_record WHERE NOT deleted"
#define PYTHON(...) RUN("/usr/bin/env", "python3", "-c", __VA_ARGS__)

static bool is_postgres(const char *store)
{
    return strncmp(store, "postgresql:", 11) == 0;
}

/* A file in an empty folder of its own; good until the next call. */
static const char *path_in(const char *folder, const char *name)
{
    static char path[PATH_BYTES];

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static const char *new_folder(const char *name)
{
    static char path[PATH_BYTES];

    (void)snprintf(path, sizeof(path), "%s/%s", test_folder(), name);
    REQUIRE(mkdir(path, 0700) == 0, path);
    return path;
}

static void harvest(const char *store)
{
    struct sim sim = SIM_SOURCE_START("--records", "1500");
    struct run run;

    sim_source_apply(store, &sim, "rate.burst=100");
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--store", store);
    REQUIRE(run.code == 0, run.talk.data);
    sim_stop(&sim);
    REQUIRE(sql_number(store, LIVE) > 50, "there is something");
}

/* ---- list, show, count ---- */

/* A name that is misspelled is no empty list, and no empty file; an endpoint without records is. */
static void misspelled_endpoint(const char *store)
{
    struct run run;

    run =
        RUN("patra", "record", "list", SIM_SOURCE_NAME, "--endpoint", "nothing", "--store", store);
    CHECK_EQ(run.code, 4, "list");
    CHECK(cli_has(run.talk, "has no endpoint 'nothing'; patra source show"), run.talk.data);
    run = RUN("patra", "record", "export", SIM_SOURCE_NAME, "--endpoint", "nothing", "--store",
              store);
    CHECK_EQ(run.code, 4, "export");
    CHECK(cli_has(run.talk, "has no endpoint 'nothing'; patra source show"), run.talk.data);
    run = RUN("patra", "record", "list", SIM_SOURCE_NAME, "--deleted", "--since", "2030-01-01",
              "--endpoint", "records", "--store", store);
    CHECK_EQ(run.code, 0, "an endpoint whose records are all left out");
}

static void look_at(const char *store)
{
    char first[PATH_BYTES], next[PATH_BYTES];
    struct run list, run;

    harvest(store);
    run = RUN("patra", "record", "count", "--json", "--store", store);
    CHECK_EQ(cli_number(run.out, "0.records"), sql_number(store, LIVE), "counted");
    CHECK_EQ(cli_number(run.out, "0.deleted"),
             sql_number(store, "SELECT count(*) FROM ing_record WHERE deleted"), "deleted");
    run = RUN("patra", "status", "--json", "--store", store);
    CHECK_EQ(cli_number(run.out, "sources.0.records"), sql_number(store, LIVE), "status");

    list =
        RUN("patra", "record", "list", SIM_SOURCE_NAME, "--limit", "3", "--json", "--store", store);
    (void)snprintf(first, sizeof(first), "%.*s", STR_ARG(cli_value(list.out, "records.0.id")));
    (void)snprintf(next, sizeof(next), "%.*s", STR_ARG(cli_value(list.out, "next")));
    run = RUN("patra", "record", "list", SIM_SOURCE_NAME, "--after", next, "--limit", "1", "--json",
              "--store", store);
    list =
        RUN("patra", "record", "list", SIM_SOURCE_NAME, "--limit", "4", "--json", "--store", store);
    CHECK_STR(cli_value(run.out, "records.0.id"), cli_value(list.out, "records.3.id"), "paged");

    run = RUN("patra", "record", "show", SIM_SOURCE_NAME, first, "--history", "--json", "--store",
              store);
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK_STR(cli_value(run.out, "id"), str_of(first), "its id");
    CHECK_STR(cli_value(run.out, "fields.title"), cli_value(run.out, "payload.title"), "a field");
    CHECK_EQ(cli_number(run.out, "history.0.version"), 1, "its first event");
    CHECK(cli_number(run.out, "lineage.batch") > 0, "its lineage");
    list = RUN("patra", "record", "show", SIM_SOURCE_NAME, first, "--raw", "--store", store);
    CHECK_STR(list.out, cli_value(run.out, "payload"), "the bytes as received, and no other");
    run = RUN("patra", "record", "show", SIM_SOURCE_NAME, "none", "--store", store);
    CHECK_EQ(run.code, 4, "none");
    CHECK(cli_has(run.talk, "patra why " SIM_SOURCE_NAME " none"), "what to do");
    CHECK_EQ(RUN("patra", "record", "list", "nobody", "--store", store).code, 4, "no source");
    misspelled_endpoint(store);
}

TEST(records_can_be_looked_at_sqlite)
{
    look_at(cli_sqlite("look.db"));
}

TEST(records_can_be_looked_at_postgres)
{
    look_at(cli_postgres());
}

TEST(texts_are_shown_as_people_write_them)
{
    const char *store = cli_sqlite("texts.db");
    char first[PATH_BYTES];
    struct run run;

    harvest(store);
    run =
        RUN("patra", "record", "list", SIM_SOURCE_NAME, "--limit", "1", "--json", "--store", store);
    (void)snprintf(first, sizeof(first), "%.*s", STR_ARG(cli_value(run.out, "records.0.id")));
    sql_run(store, "UPDATE ing_record_content SET payload = CAST(replace(CAST(payload AS text),"
                   " '\"title\":\"', '\"title\":\"a\\/b \\u00e9 ') AS blob)");
    run = RUN("patra", "record", "show", SIM_SOURCE_NAME, first, "--store", store);
    CHECK(cli_has(run.out, "  title       \"a/b \xc3\xa9 "), run.out.data);
}

/* ---- formats ---- */

/* Prints how many records a file has, and the sum of their versions. */
static const char READ_JSONL[] =
    "import sys, json, gzip\n"
    "rows = [json.loads(l) for l in (gzip.open if sys.argv[1].endswith('gz') else open)"
    "(sys.argv[1], 'rt', encoding='utf-8')]\n"
    "assert all((('payload' in r) or ('fields' in r)) != r['deleted'] for r in rows)\n"
    "assert len({r['id'] for r in rows}) == len(rows)\n"
    "print(len(rows) * 1000000 + sum(r['version'] for r in rows))\n";
static const char READ_CSV[] =
    "import sys, csv\n"
    "rows = list(csv.DictReader(open(sys.argv[1], newline='', encoding='utf-8'), strict=True))\n"
    "assert all(None not in r and None not in r.values() for r in rows)\n"
    "assert all(r['title'] for r in rows if r['record_deleted'] == 'false')\n"
    "print(len(rows) * 1000000 + sum(int(r['record_version']) for r in rows))\n";
static const char READ_XML[] =
    "import sys, xml.etree.ElementTree as e\n"
    "rows = list(e.parse(sys.argv[1]).getroot())\n"
    "assert all(len(r) > 0 for r in rows if r.get('deleted') == 'false')\n"
    "print(len(rows) * 1000000 + sum(int(r.get('version')) for r in rows))\n";

struct reading {
    const char *file;
    const char *script;
    const char *option;
};

static void check_file(const char *store, const char *source, const char *folder,
                       const struct reading *reading)
{
    static const char TRUTH[] = "SELECT count(*) * 1000000 + sum(version) FROM ing_record"
                                " WHERE provenance_code = '%s'";
    const char *path = path_in(folder, reading->file);
    char sql[PATH_BYTES];
    struct run run = RUN("patra", "record", "export", source, "-o", path, "--with-deleted",
                         "--store", store, reading->option);

    CHECK_EQ(run.code, 0, run.talk.data);
    run = PYTHON(reading->script, path);
    CHECK_EQ(run.code, 0, run.talk.data);
    (void)snprintf(sql, sizeof(sql), TRUTH, source);
    if (is_postgres(store))
        (void)snprintf(sql, sizeof(sql),
                       "SELECT (count(*) * 1000000 + sum(version))::bigint FROM ing_record WHERE "
                       "provenance_code = '%s'",
                       source);
    CHECK_EQ(strtoll(run.out.data, NULL, 10), sql_number(store, sql), reading->file);
}

static void export_formats(const char *store, const char *folder)
{
    static const struct reading json[] = {
        { "all.jsonl", READ_JSONL, NULL },
        { "all.jsonl.gz", READ_JSONL, NULL },
        { "all.csv", READ_CSV, NULL },
        { "fields.jsonl", READ_JSONL, "--fields-only" },
        { "fields.xml", READ_XML, "--fields-only" },
    };
    char zst[PATH_BYTES];
    struct run run;

    harvest(store);
    sql_run(store, "UPDATE ing_record_state SET deleted = NOT deleted, version = 2 WHERE id = 5");
    for (size_t i = 0; i < ARRAY_LEN(json); i++)
        check_file(store, SIM_SOURCE_NAME, folder, &json[i]);
    (void)snprintf(zst, sizeof(zst), "%s", path_in(folder, "all.jsonl.zst"));
    run = RUN("patra", "record", "export", SIM_SOURCE_NAME, "-o", zst, "--with-deleted", "--store",
              store);
    CHECK_EQ(run.code, 0, run.talk.data);
    run = RUN("/usr/bin/env", "sh", "-c", "zstd -qdc \"$0\" | cmp - \"$1\"", zst,
              path_in(folder, "all.jsonl"));
    CHECK_EQ(run.code, 0, "the same, compressed");
    run = RUN("patra", "record", "export", SIM_SOURCE_NAME, "--format", "xml", "--store", store);
    CHECK_EQ(run.code, 4, "JSON is not XML");
    run = RUN("patra", "record", "export", SIM_SOURCE_NAME, "-o", "x.avro", "--store", store);
    CHECK_EQ(run.code, 2, "an end that names no format");
}

/* The number of rows in the metadata at the end of the file, by a reader of Thrift's compact
 * protocol. Types and values are read by others: scripts/parquet. */
static const char READ_PARQUET[] =
    "import sys\n"
    "data = open(sys.argv[1], 'rb').read()\n"
    "assert data[:4] == data[-4:] == b'PAR1'\n"
    "at = len(data) - 8 - int.from_bytes(data[-8:-4], 'little')\n"
    "def varint():\n"
    "    global at\n"
    "    value = shift = 0\n"
    "    while True:\n"
    "        byte = data[at]; at += 1\n"
    "        value |= (byte & 127) << shift; shift += 7\n"
    "        if byte < 128: return value\n"
    "def read(kind):\n"
    "    global at\n"
    "    if kind in (1, 2): return kind == 1\n"
    "    if kind in (4, 5, 6):\n"
    "        value = varint(); return (value >> 1) ^ -(value & 1)\n"
    "    if kind == 8:\n"
    "        size = varint(); at += size; return data[at - size:at]\n"
    "    if kind == 9:\n"
    "        head = data[at]; at += 1\n"
    "        count = head >> 4 if head >> 4 < 15 else varint()\n"
    "        return [read(head & 15) for _ in range(count)]\n"
    "    assert kind == 12, kind\n"
    "    fields, number = {}, 0\n"
    "    while data[at]:\n"
    "        head = data[at]; at += 1; number += head >> 4\n"
    "        fields[number] = read(head & 15)\n"
    "    at += 1\n"
    "    return fields\n"
    "meta = read(12)\n"
    "assert sum(group[3] for group in meta[4]) == meta[3]\n"
    "assert [c[4] for c in meta[2]][1:3] == [b'record_endpoint', b'record_id']\n"
    "print(meta[3])\n";

TEST(a_parquet_file_has_a_row_per_record)
{
    const char *store = cli_sqlite("parquet.db");
    const char *folder = new_folder("parquet");
    char path[PATH_BYTES];
    struct run run;

    harvest(store);
    (void)snprintf(path, sizeof(path), "%s", path_in(folder, "all.parquet"));
    run = RUN("patra", "record", "export", SIM_SOURCE_NAME, "-o", path, "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    run = PYTHON(READ_PARQUET, path);
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK_EQ(strtoll(run.out.data, NULL, 10), sql_number(store, LIVE), "rows");
    run = RUN("patra", "record", "export", SIM_SOURCE_NAME, "-o", path_in(folder, "all.parquet.gz"),
              "--store", store);
    CHECK_EQ(run.code, 2, "it is compressed inside");
}

TEST(every_format_has_every_record_sqlite)
{
    export_formats(cli_sqlite("formats.db"), new_folder("formats-sqlite"));
}

TEST(every_format_has_every_record_postgres)
{
    export_formats(cli_postgres(), new_folder("formats-postgres"));
}

TEST(xml_records_are_exported_as_xml)
{
    static const struct reading xml[] = { { "all.xml", READ_XML, NULL },
                                          { "all.jsonl", READ_JSONL, NULL } };
    const char *store = cli_sqlite("xml.db");
    const char *folder = new_folder("xml");
    struct sim sim = SIM_SOURCE_START("--records", "600");

    sim_source_pubmed_apply(store, &sim);
    REQUIRE(RUN("patra", "harvest", "pubmed", "--from", "2026-02-01", "--to", "2026-02-04",
                "--store", store)
                    .code == 0,
            "harvest");
    sim_stop(&sim);
    REQUIRE(sql_number(store, LIVE) > 5, "there is something");
    for (size_t i = 0; i < ARRAY_LEN(xml); i++)
        check_file(store, "pubmed", folder, &xml[i]);
}

/* ---- the nightly job ---- */

static void nightly(const char *store, const char *folder)
{
    char token[PATH_BYTES], file[PATH_BYTES];
    struct run run;

    harvest(store);
    (void)snprintf(token, sizeof(token), "%s", path_in(folder, "token"));
    (void)snprintf(file, sizeof(file), "%s", path_in(folder, "night.jsonl"));
    run = RUN("patra", "record", "export", SIM_SOURCE_NAME, "-o", file, "--token-file", token,
              "--json", "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK_EQ(cli_number(run.out, "records"), sql_number(store, LIVE), "the first has everything");
    run = RUN("patra", "record", "export", SIM_SOURCE_NAME, "-o", file, "--token-file", token,
              "--json", "--store", store);
    CHECK_EQ(cli_number(run.out, "records"), 0, "nothing has changed");
    CHECK_EQ((int64_t)test_read(file).len, 0, "an empty file");

    /* A changed mapping makes events. */
    run = RUN("patra", "source", "show", SIM_SOURCE_NAME, "--store", store);
    REQUIRE(run.code == 0, run.talk.data);
    sql_run(store, "UPDATE ing_record_state SET version = 2, deleted = NOT deleted WHERE id = 3");
    sql_run(store, is_postgres(store)
                       ? "INSERT INTO ing_outbox (record_id, event_id, event_type, version,"
                         " schema_version, lane, occurred_at, body)"
                         " SELECT record_id, gen_random_uuid(), 'RecordDeleted', 2, 1, 0,"
                         " occurred_at, '' FROM ing_outbox WHERE record_id = 3"
                       : "INSERT INTO ing_outbox (record_id, event_id, event_type, version,"
                         " schema_version, lane, occurred_at, body)"
                         " SELECT record_id, substr(event_id, 1, 35) || 'x', 'RecordDeleted', 2, 1,"
                         " 0, occurred_at, x'' FROM ing_outbox WHERE record_id = 3");
    run = RUN("patra", "record", "export", SIM_SOURCE_NAME, "-o", "/nowhere/x.jsonl",
              "--token-file", token, "--store", store);
    CHECK_EQ(run.code, 4, "a night that failed");
    run = RUN("patra", "record", "export", SIM_SOURCE_NAME, "-o", file, "--token-file", token,
              "--json", "--store", store);
    CHECK_EQ(cli_number(run.out, "records"), 1, "is made up for by the next");
    CHECK_EQ(cli_number(run.out, "deleted"), 1, "a tombstone");
    CHECK(cli_has(test_read(file), "\"deleted\":true}\n"), "without content");
    CHECK_EQ(RUN("patra", "record", "export", SIM_SOURCE_NAME, "--token-file", token, "--version",
                 "2..", "--store", store)
                 .code,
             2, "a token and a filter");
}

TEST(a_nightly_job_gets_what_changed_sqlite)
{
    nightly(cli_sqlite("nightly.db"), new_folder("nightly-sqlite"));
}

TEST(a_nightly_job_gets_what_changed_postgres)
{
    nightly(cli_postgres(), new_folder("nightly-postgres"));
}

/* ---- killed ---- */

static void fill(const char *store)
{
    static const char COLUMNS[] =
        "INSERT INTO ing_record_endpoint (provenance_code, endpoint_name)"
        " VALUES ('many', 'works');"
        "INSERT INTO ing_record_state (endpoint_id, expr_id, provider_id, version, deleted,"
        " content_hash, checked_week, observed_at, checked_at, created_at) ";
    char sql[2048];

    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    if (is_postgres(store))
        (void)snprintf(sql, sizeof(sql),
                       "%s SELECT 1, 1, 'r' || n, 1, false, '', 0, now(), now(), now()"
                       " FROM generate_series(1, %d) AS n; INSERT INTO ing_record_content"
                       " (record_id, payload)"
                       " SELECT id, convert_to('{\"n\":\"' || repeat('x', 1000) || '\"}', 'UTF8')"
                       " FROM ing_record",
                       COLUMNS, MANY);
    else
        (void)snprintf(sql, sizeof(sql),
                       "%s WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s"
                       " WHERE n < %d) SELECT 1, 1, 'r' || n, 1, 0, x'', 0, 0, 0, 0"
                       " FROM s; INSERT INTO ing_record_content"
                       " (record_id, payload)"
                       " SELECT id, CAST('{\"n\":\"' || hex(zeroblob(500)) || '\"}' AS BLOB)"
                       " FROM ing_record",
                       COLUMNS, MANY);
    sql_run(store, sql);
}

/* Bytes that a process has written; -1 when it has ended. */
static int64_t written_by(pid_t pid)
{
    char path[64];
    long long written = -1;
    FILE *file;

    (void)snprintf(path, sizeof(path), "/proc/%d/io", (int)pid);
    file = fopen(path, "r");
    if (file == NULL)
        return -1;
    if (fscanf(file, "rchar: %*d wchar: %lld", &written) != 1)
        written = -1;
    (void)fclose(file);
    return written;
}

/* Kills it when it has written so much. Returns false when it ended before. */
static bool kill_at(pid_t pid, int64_t bytes)
{
    int64_t written = 0;
    siginfo_t info;

    while (written >= 0 && written < bytes) {
        info.si_pid = 0;
        if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0)
            return false;
        written = written_by(pid);
    }
    return kill(pid, SIGKILL) == 0;
}

static int entries_of(const char *folder)
{
    DIR *dir = opendir(folder);
    int count = 0;

    REQUIRE(dir != NULL, folder);
    while (readdir(dir) != NULL)
        count++;
    (void)closedir(dir);
    return count - 2;
}

static void killed(const char *store, const char *folder)
{
    struct random random = { 16 };
    struct running running;
    char file[PATH_BYTES];
    struct str whole;
    int killed_ones = 0;

    fill(store);
    (void)snprintf(file, sizeof(file), "%s", path_in(folder, "many.jsonl"));
    for (int i = 0; i < KILLS; i++) {
        running = RUN_BEGIN("patra", "record", "export", "many", "-o", file, "--store", store);
        killed_ones += kill_at(running.pid, random_between(&random, 1, (int64_t)MANY * 1000));
        (void)run_end(&running);
        CHECK(access(file, F_OK) != 0 || killed_ones <= i, "half a file is not there");
    }
    CHECK(killed_ones > KILLS / 2, "they were killed");
    REQUIRE(RUN("patra", "record", "export", "many", "-o", file, "--store", store).code == 0,
            "a whole one");
    whole = test_read(file);
    for (int i = 0; i < 3; i++) {
        running = RUN_BEGIN("patra", "record", "export", "many", "-o", file, "--store", store);
        (void)kill_at(running.pid, random_between(&random, 1, (int64_t)MANY * 1000));
        (void)run_end(&running);
        CHECK_EQ((int64_t)test_read(file).len, (int64_t)whole.len, "the old file or the new one");
    }
    CHECK(str_ends(whole, STR("\"}}\n")), "it ends with a record");
    CHECK_EQ(entries_of(folder), 1, "and nothing is left beside it");
}

TEST(a_killed_export_leaves_no_half_file_sqlite)
{
    killed(cli_sqlite("many.db"), new_folder("killed-sqlite"));
}

TEST(a_killed_export_leaves_no_half_file_postgres)
{
    killed(cli_postgres(), new_folder("killed-postgres"));
}

/* ---- outputs that fail ---- */

TEST(an_output_that_fails_is_an_error)
{
    const char *store = cli_sqlite("fails.db");
    struct run run;

    fill(store);
    run = RUN("patra", "record", "export", "many", "-o", "/dev/full", "--store", store);
    CHECK_EQ(run.code, 3, "no room");
    CHECK(cli_has(run.talk, "No space left on device"), run.talk.data);
    run = RUN("/usr/bin/env", "sh", "-c",
              "{ \"$PATRA_BUILD/patra\" record export many --store \"$0\"; echo code $? >&2; }"
              " | head -n 1 >/dev/null",
              store);
    CHECK(cli_has(run.talk, "has closed it"), run.talk.data);
    CHECK(cli_has(run.talk, "code 3"), run.talk.data);
}

/* ---- options ---- */

TEST(the_output_has_a_long_and_a_short_name)
{
    const char *store = cli_sqlite("names.db");
    const char *folder = new_folder("names");
    char one[PATH_BYTES], two[PATH_BYTES];

    (void)snprintf(one, sizeof(one), "%s/one.jsonl", folder);
    (void)snprintf(two, sizeof(two), "%s/two.jsonl", folder);
    fill(store);
    CHECK_EQ(RUN("patra", "record", "export", "many", "-o", one, "--store", store).code, 0, "-o");
    CHECK_EQ(RUN("patra", "record", "export", "many", "--output", two, "--store", store).code, 0,
             "--output");
    CHECK_EQ(RUN("/usr/bin/cmp", one, two).code, 0, "the same");
    CHECK_EQ(RUN("patra", "record", "export", "many", "--o", one, "--store", store).code, 2,
             "a letter has one dash");
    CHECK_EQ(RUN("patra", "record", "export", "many", "-x", one, "--store", store).code, 2,
             "an unknown one");
    CHECK_EQ(RUN("patra", "record", "export", "many", "-o").code, 2, "without its value");
}

TEST(a_period_of_changes_that_ends_before_it_begins_is_refused)
{
    const char *store = cli_sqlite("period.db");
    struct run run;

    fill(store);
    run = RUN("patra", "record", "export", "many", "--changed-after", "2026-03-05",
              "--changed-before", "2026-03-01", "--store", store);
    CHECK_EQ(run.code, 2, "wrong options");
    CHECK(cli_has(run.talk, "2026-03-05 is not before --changed-before 2026-03-01"), run.talk.data);
    CHECK_EQ(RUN("patra", "record", "export", "many", "--changed-after", "2d", "--changed-before",
                 "1d", "--store", store)
                 .code,
             0, "the other way round");
}
