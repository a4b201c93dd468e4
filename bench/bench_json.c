/* bench_json: a 5 MB page of 1000 records, Crossref-like, read as the engine reads it: per record
 * its id, date and title, and its bytes as received. patra's reader against jansson, in one run;
 * the best of several rounds each, because the machine may be shared. Only the ratios count.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "data/json.h"
#include "data/json_canonical.h"
#include "data/json_write.h"
#include "data/jsonpath.h"
#include "rival.h"
#include "seconds.h"

enum { RECORDS = 1000, RECORD_BYTES = 5000, ROUNDS = 15, MEMORY_MAX = 256 << 20 };

/* ---- the page ---- */

static void write_date(struct json_writer *w, const char *name, int n)
{
    char text[32];

    json_write_name(w, str_of(name));
    json_write_object(w);
    json_write_name(w, STR("date-parts"));
    json_write_array(w);
    json_write_array(w);
    json_write_i64(w, 2000 + n % 26);
    json_write_i64(w, 1 + n % 12);
    json_write_i64(w, 1 + n % 28);
    json_write_end(w);
    json_write_end(w);
    (void)snprintf(text, sizeof(text), "%04d-%02d-%02dT%02d:%02d:%02dZ", 2000 + n % 26, 1 + n % 12,
                   1 + n % 28, n % 24, n % 60, n * 7 % 60);
    json_write_member_str(w, STR("date-time"), str_of(text));
    json_write_member_i64(w, STR("timestamp"), INT64_C(1600000000000) + n * INT64_C(1000));
    json_write_end(w);
}

static void write_author(struct json_writer *w, int n)
{
    static const char *const given[] = { "Ana Maria", "Jürgen", "Wei", "Olga", "小明", "John A." };
    static const char *const family[] = { "Silva", "Müller", "Zhang", "Иванова", "王", "O'Neil" };

    json_write_object(w);
    json_write_member_str(w, STR("given"), str_of(given[n % 6]));
    json_write_member_str(w, STR("family"), str_of(family[(n + n / 6) % 6]));
    json_write_member_str(w, STR("sequence"), n % 5 == 0 ? STR("first") : STR("additional"));
    json_write_name(w, STR("affiliation"));
    json_write_array(w);
    if (n % 3 == 0) {
        json_write_object(w);
        json_write_member_str(w, STR("name"), STR("Department of Chemistry, A University, City"));
        json_write_end(w);
    }
    json_write_end(w);
    json_write_end(w);
}

static void write_reference(struct json_writer *w, int n)
{
    char doi[40], key[24];

    (void)snprintf(doi, sizeof(doi), "10.1016/j.jmb.%d.%05d", 1980 + n % 40, n % 99991);
    (void)snprintf(key, sizeof(key), "ref%d_b%04d", n % 90, n % 9973);
    json_write_object(w);
    json_write_member_str(w, STR("key"), str_of(key));
    json_write_member_str(w, STR("doi-asserted-by"), STR("publisher"));
    json_write_member_str(w, STR("first-page"), STR("1024"));
    json_write_member_str(w, STR("DOI"), str_of(doi));
    json_write_member_str(w, STR("article-title"),
                          STR("On the structure of things, and \"other\" matters of some length"));
    json_write_member_str(w, STR("volume"), STR("17"));
    json_write_member_str(w, STR("author"), STR("Smith"));
    json_write_member_str(w, STR("year"), STR("1999"));
    json_write_member_str(w, STR("journal-title"), STR("Journal of Long Names"));
    json_write_end(w);
}

static void write_record(struct json_writer *w, int n)
{
    const size_t start = w->out->len;
    char text[160];

    json_write_object(w);
    write_date(w, "indexed", n);
    json_write_member_i64(w, STR("reference-count"), n % 90);
    json_write_member_str(w, STR("publisher"), STR("A Publishing House BV"));
    json_write_member_str(w, STR("issue"), STR("4"));
    json_write_name(w, STR("short-container-title"));
    json_write_array(w);
    json_write_str(w, STR("J. Long. Nam."));
    json_write_end(w);
    (void)snprintf(text, sizeof(text), "10.%d/abc.%d.%06d", 1000 + n % 7000, 2000 + n % 26, n);
    json_write_member_str(w, STR("DOI"), str_of(text));
    json_write_member_str(w, STR("type"), STR("journal-article"));
    write_date(w, "created", n + 3);
    json_write_member_str(w, STR("abstract"),
                          STR("<jats:p>We study how pages of records are read, and find that most "
                              "bytes stand inside strings.\nResults follow from \"counting\" "
                              "them: naïve readers spend their time in the allocator, and the "
                              "rest of it in copying what nobody asked for.</jats:p>"));
    json_write_member_str(w, STR("source"), STR("Crossref"));
    (void)snprintf(text, sizeof(text), "A study of %d things and their \"names\", part %d", n,
                   n % 9);
    json_write_name(w, STR("title"));
    json_write_array(w);
    json_write_str(w, str_of(text));
    json_write_end(w);
    json_write_name(w, STR("author"));
    json_write_array(w);
    for (int i = 0; i < 3 + n % 6; i++)
        write_author(w, n * 5 + i);
    json_write_end(w);
    json_write_name(w, STR("score"));
    json_write_double(w, 1.0 + n / 64.0);
    json_write_name(w, STR("reference"));
    json_write_array(w);
    for (int i = 0; w->out->len - start < RECORD_BYTES - 150; i++)
        write_reference(w, n * 31 + i);
    json_write_end(w);
    write_date(w, "deposited", n + 5);
    json_write_member_str(w, STR("URL"), STR("https://doi.org/10.1000/xyz"));
    json_write_end(w);
}

static struct str make_page(struct arena *arena)
{
    struct json_writer w;
    struct buf page;
    struct error err;

    buf_init(&page, arena, MEMORY_MAX);
    json_writer_init(&w, &page);
    json_write_object(&w);
    json_write_member_str(&w, STR("status"), STR("ok"));
    json_write_name(&w, STR("message"));
    json_write_object(&w);
    json_write_member_i64(&w, STR("total-results"), RECORDS);
    json_write_name(&w, STR("items"));
    json_write_array(&w);
    for (int i = 0; i < RECORDS; i++)
        write_record(&w, i);
    json_write_end(&w);
    json_write_end(&w);
    json_write_end(&w);
    json_writer_finish(&w);
    if (!buf_ok(&page, &err)) {
        fprintf(stderr, "bench_json: %s\n", err.text);
        exit(1);
    }
    return buf_str(&page);
}

/* ---- the readers ---- */

static size_t string_len(const struct json_doc *doc, struct json_node node, struct arena *arena)
{
    struct error err;
    struct str value;

    if (json_type(doc, node) != JSON_STRING || !json_string(doc, node, arena, &value, &err))
        exit(1);
    return value.len;
}

static struct json_doc kept; /* its memory is reused for every page, as in the engine */
static struct arena kept_arena;

static struct reading read_patra(struct str page, bool raw)
{
    struct reading r = { 0 };
    struct arena arena;
    struct json_iter it;
    struct error err;

    arena_init(&arena, MEMORY_MAX);
    if (!json_parse_again(&kept, page, &err))
        exit(1);
    it = json_each(
        &kept, json_get(&kept, json_get(&kept, json_root(&kept), STR("message")), STR("items")));
    while (json_next(&it)) {
        const struct json_node indexed = json_get(&kept, it.value, STR("indexed"));
        const struct json_node title = json_get(&kept, it.value, STR("title"));

        r.records++;
        r.field_bytes += string_len(&kept, json_get(&kept, it.value, STR("DOI")), &arena);
        r.field_bytes += string_len(&kept, json_get(&kept, indexed, STR("date-time")), &arena);
        r.field_bytes += string_len(&kept, json_at(&kept, title, 0), &arena);
        if (raw)
            r.raw_bytes += json_raw(&kept, it.value).len;
    }
    r.memory = kept.span_count * sizeof(*kept.spans) + arena.used;
    arena_release(&arena);
    return r;
}

static rival_read_fn *rival;

/* In this program's folder. Loaded rather than linked, because many names are the same as ours. */
static bool load_rival(char *program)
{
    char path[4096];
    void *library;

    (void)snprintf(path, sizeof(path), "%s/librival_jansson.so", dirname(program));
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "bench_json: %s\n", dlerror());
        return false;
    }
    *(void **)&rival = dlsym(library, RIVAL_READ);
    return rival != NULL;
}

static struct reading read_jansson(struct str page, bool raw)
{
    struct reading r = rival(page.data, page.len, raw);

    if (r.records != RECORDS)
        exit(1);
    return r;
}

/* The same as read_patra, with the JSONPaths that a source would use. */
static struct reading read_paths(struct str page, bool raw)
{
    static const char *const texts[] = { "$.message.items", "$.DOI", "$.indexed['date-time']",
                                         "$.title[0]" };
    const struct jsonpath *paths[ARRAY_LEN(texts)];
    struct reading r = { 0 };
    struct arena arena;
    struct json_iter it;
    struct error err;

    arena_init(&arena, MEMORY_MAX);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        if (!jsonpath_compile(&arena, str_of(texts[i]), &paths[i], NULL, &err))
            exit(1);
    }
    if (!json_parse_again(&kept, page, &err))
        exit(1);
    for (it = json_each(&kept, jsonpath_get(paths[0], &kept, json_root(&kept))); json_next(&it);) {
        r.records++;
        for (size_t i = 1; i < ARRAY_LEN(texts); i++)
            r.field_bytes += string_len(&kept, jsonpath_get(paths[i], &kept, it.value), &arena);
        if (raw)
            r.raw_bytes += json_raw(&kept, it.value).len;
    }
    r.memory = kept.span_count * sizeof(*kept.spans) + arena.used;
    arena_release(&arena);
    return r;
}

static struct reading read_validate(struct str page, bool raw)
{
    (void)raw;
    if (!json_is_valid(page))
        exit(1);
    return (struct reading){ 0 };
}

static struct reading read_canonical(struct str page, bool raw)
{
    struct reading r = { 0 };
    struct arena arena;
    struct error err;
    struct str out;

    (void)raw;
    arena_init(&arena, MEMORY_MAX);
    if (!json_canonical_text(&arena, page, &out, &err))
        exit(1);
    r.raw_bytes = out.len;
    r.memory = arena.used;
    arena_release(&arena);
    return r;
}

/* ---- the table ---- */

static const struct {
    const char *label;
    struct reading (*read)(struct str page, bool raw);
    bool raw;
    int rounds;
} readers[] = {
    { "jansson, fields and raw record", read_jansson, true, 3 },
    { "jansson, fields", read_jansson, false, 3 },
    { "patra, fields and raw record", read_patra, true, ROUNDS },
    { "patra, fields", read_patra, false, ROUNDS },
    { "patra, fields by JSONPath and raw record", read_paths, true, ROUNDS },
    { "patra, validate only", read_validate, false, ROUNDS },
    { "patra, canonical form", read_canonical, false, 3 },
};

int main(int argc, char **argv)
{
    struct arena arena;
    struct error err;
    struct str page;
    double base_s = 0;

    (void)argc;
    if (!load_rival(argv[0]))
        return 1;
    arena_init(&arena, MEMORY_MAX);
    arena_init(&kept_arena, MEMORY_MAX);
    page = make_page(&arena);
    if (!json_parse(&kept, &kept_arena, page, &err))
        return 1;
    printf("page: %zu bytes, %d records, %" PRIu32 " objects and arrays\n\n", page.len, RECORDS,
           kept.span_count);
    printf("| reader | MB/s | times jansson with raw | extra memory, KB | field bytes | raw bytes "
           "|\n");
    printf("|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < ARRAY_LEN(readers); i++) {
        double best_s = 1e9;
        struct reading r = { 0 };

        for (int round = 0; round < readers[i].rounds; round++) {
            const double start_s = now_s();

            r = readers[i].read(page, readers[i].raw);
            if (now_s() - start_s < best_s)
                best_s = now_s() - start_s;
        }
        if (i == 0)
            base_s = best_s;
        printf("| %s | %.0f | %.1f | %zu | %zu | %zu |\n", readers[i].label,
               (double)page.len / best_s / 1e6, base_s / best_s, r.memory / 1024, r.field_bytes,
               r.raw_bytes);
    }
    arena_release(&arena);
    arena_release(&kept_arena);
    return 0;
}
