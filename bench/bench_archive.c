/* bench_archive: how small responses of Crossref become in the archive, and how fast.
 *
 *      bench_archive [FOLDER]      default: ../shared/fixtures
 *
 * Works are those in the *.json files below FOLDER whose path has "crossref" in it. The dictionary
 * is made of the first half; pages have each work of the other half once. Prints the ratio and the
 * speed of packing without and with a dictionary, and of unpacking. Asserts nothing.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/pack/pack.h"
#include "base/buf.h"
#include "data/hash.h"
#include "data/json.h"
#include "seconds.h"

enum { PAGES = 64, WORKS_MAX = 4096 };
#define MEMORY ((size_t)2 << 30)

struct works {
    struct str items[WORKS_MAX];
    size_t count;
};

static void fail(const char *what)
{
    fprintf(stderr, "bench_archive: %s\n", what);
    exit(1);
}

static struct str read_file(struct arena *arena, const char *path)
{
    FILE *file = fopen(path, "rb");
    struct buf out;
    char piece[1 << 16];
    size_t len;

    if (file == NULL)
        return STR("");
    buf_init(&out, arena, (size_t)256 << 20);
    while ((len = fread(piece, 1, sizeof(piece), file)) > 0)
        buf_add(&out, (struct str){ piece, len });
    (void)fclose(file);
    return buf_str(&out);
}

static void add_works(struct works *works, struct arena *arena, struct str text)
{
    struct json_doc *doc = ARENA_NEW(arena, struct json_doc);
    struct error err;
    struct json_node items;

    if (doc == NULL || !json_parse(doc, arena, text, &err))
        return;
    items = json_get(doc, json_get(doc, json_root(doc), STR("message")), STR("items"));
    for (struct json_iter it = json_each(doc, items); json_next(&it);) {
        if (works->count < WORKS_MAX)
            works->items[works->count++] = json_raw(doc, it.value);
    }
}

static void find_works(struct works *works, struct arena *arena, const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    char path[4096];

    if (dir == NULL)
        return;
    while ((entry = readdir(dir)) != NULL) {
        const struct str name = str_of(entry->d_name);

        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        if (str_find(str_of(path), STR("crossref")) < strlen(path) && str_ends(name, STR(".json")))
            add_works(works, arena, read_file(arena, path));
        else
            find_works(works, arena, path);
    }
    (void)closedir(dir);
}

/* A page of works that the dictionary has not seen, each once, from another one on each time. */
static struct str make_page(struct arena *arena, const struct works *works, size_t number)
{
    const size_t half = works->count / 2, count = works->count - half;
    struct buf out;

    buf_init(&out, arena, (size_t)256 << 20);
    buf_printf(&out, "{\"status\":\"ok\",\"message\":{\"next-cursor\":\"%zu\",\"items\":[", number);
    for (size_t i = 0; i < count; i++) {
        buf_add(&out, i > 0 ? STR(",") : STR(""));
        buf_add(&out, works->items[half + (i + number) % count]);
    }
    buf_add(&out, STR("]}}"));
    return buf_str(&out);
}

static void measure(struct body_packer *packer, const struct body_dictionary *dictionary,
                    const struct str *pages, const char *name)
{
    double packing = 0, unpacking = 0;
    size_t raw = 0, small = 0;
    struct arena arena;
    struct error err;

    arena_init(&arena, MEMORY);
    for (size_t i = 0; i < PAGES; i++) {
        struct str packed = { 0 }, again;
        struct hash_sum sum;
        double start = now_s();

        if (!hash_of(pages[i], &sum, &err) ||
            !body_pack(packer, &arena, dictionary, pages[i], &packed, &err))
            fail(err.text);
        packing += now_s() - start;
        start = now_s();
        if (!body_unpack(packer, &arena, dictionary, packed, &again, &err))
            fail(err.text);
        unpacking += now_s() - start;
        if (!str_eq(again, pages[i]))
            fail("a page is not the same");
        raw += pages[i].len;
        small += packed.len;
        arena_reset(&arena);
    }
    printf(
        "%-20s %8.1f kB a page  %5.2f times smaller  hash and pack %6.0f MB/s  unpack %6.0f MB/s\n",
        name, (double)raw / PAGES / 1e3, (double)raw / (double)small, (double)raw / packing / 1e6,
        (double)raw / unpacking / 1e6);
    arena_release(&arena);
}

int main(int argc, char **argv)
{
    static struct works works;
    struct body_dictionary dictionary = { 0 };
    struct str pages[PAGES];
    struct body_packer *packer;
    struct arena arena;
    struct error err;

    arena_init(&arena, MEMORY);
    find_works(&works, &arena, argc > 1 ? argv[1] : "../shared/fixtures");
    if (works.count == 0)
        fail("no works of Crossref in the folder");
    if (!body_packer_open(&packer, &err))
        fail(err.text);
    for (size_t i = 0; i < PAGES; i++)
        pages[i] = make_page(&arena, &works, i);
    printf("%zu works\n", works.count);
    measure(packer, &dictionary, pages, "without dictionary");
    if (!body_train(packer, &arena, works.items, works.count / 2, &dictionary.bytes, &err))
        fail(err.text);
    dictionary.id = dictionary.bytes.len > 0;
    measure(packer, &dictionary, pages, "with dictionary");
    body_packer_close(packer);
    arena_release(&arena);
    return 0;
}
