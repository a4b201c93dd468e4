#include "adapter/memory/table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { HEIGHT_MAX = 20 };

struct index_node {
    int64_t id;
    size_t len;
    unsigned char *key;
    int height;
    struct index_node *next[]; /* a skip list: next[h] jumps over nodes lower than h */
};

static void *checked(void *memory)
{
    if (memory == NULL)
        abort();
    return memory;
}

/* ---- keys ---- */

static void key_room(struct key *key, size_t more)
{
    if (key->len + more <= key->capacity)
        return;
    key->capacity = (key->len + more) * 2;
    key->bytes = checked(realloc(key->bytes, key->capacity));
}

void key_release(struct key *key)
{
    free(key->bytes);
    *key = (struct key){ 0 };
}

/* Big-endian with the sign turned: bytes compare like numbers. */
void key_add_i64(struct key *key, int64_t value)
{
    const uint64_t bits = (uint64_t)value ^ UINT64_C(0x8000000000000000);

    key_room(key, 8);
    for (int shift = 56; shift >= 0; shift -= 8)
        key->bytes[key->len++] = (unsigned char)(bits >> shift);
}

/* Ended by 00 00, and 00 written as 00 01: a prefix sorts first, and no text runs into the next. */
void key_add_str(struct key *key, struct str value)
{
    key_room(key, value.len * 2 + 2);
    for (size_t i = 0; i < value.len; i++) {
        key->bytes[key->len++] = (unsigned char)value.data[i];
        if (value.data[i] == '\0')
            key->bytes[key->len++] = 1;
    }
    key->bytes[key->len++] = 0;
    key->bytes[key->len++] = 0;
}

static int compare(const unsigned char *a, size_t a_len, const unsigned char *b, size_t b_len)
{
    const size_t len = a_len < b_len ? a_len : b_len;
    const int order = len > 0 ? memcmp(a, b, len) : 0;

    return order != 0 ? order : (a_len > b_len) - (a_len < b_len);
}

/* ---- indexes ---- */

static struct index_node *node_new(int height, const struct key *key, int64_t id)
{
    struct index_node *node =
        checked(calloc(1, sizeof(*node) + (size_t)height * sizeof(struct index_node *)));

    node->height = height;
    node->id = id;
    if (key != NULL) {
        node->len = key->len;
        node->key = checked(malloc(key->len + 1));
        memcpy(node->key, key->bytes, key->len);
    }
    return node;
}

static void node_free(struct index_node *node)
{
    free(node->key);
    free(node);
}

/* The last nodes before the key, one per height. Returns the node behind them. */
static struct index_node *seek(const struct index *index, const struct key *key,
                               struct index_node *before[HEIGHT_MAX])
{
    struct index_node *node = index->head;

    for (int h = HEIGHT_MAX - 1; h >= 0; h--) {
        while (node->next[h] != NULL &&
               compare(node->next[h]->key, node->next[h]->len, key->bytes, key->len) < 0)
            node = node->next[h];
        before[h] = node;
    }
    return node->next[0];
}

static void index_add(struct index *index, const struct key *key, int64_t id)
{
    struct index_node *before[HEIGHT_MAX], *node;
    int height = 1;

    (void)seek(index, key, before);
    index->dice = index->dice * UINT64_C(6364136223846793005) + 1442695040888963407;
    for (uint64_t bits = index->dice >> 32; (bits & 3) == 0 && height < HEIGHT_MAX; bits >>= 2)
        height++;
    node = node_new(height, key, id);
    for (int h = 0; h < height; h++) {
        node->next[h] = before[h]->next[h];
        before[h]->next[h] = node;
    }
}

static void index_remove(struct index *index, const struct key *key)
{
    struct index_node *before[HEIGHT_MAX];
    struct index_node *node = seek(index, key, before);

    assert(node != NULL && compare(node->key, node->len, key->bytes, key->len) == 0);
    for (int h = 0; h < node->height; h++)
        before[h]->next[h] = node->next[h];
    node_free(node);
}

/* The key under which a row stands; that of an index which is not unique has the id behind it. */
static bool key_of(const struct index_def *def, const void *row, struct key *key)
{
    key->len = 0;
    if (row == NULL || !def->key(row, key))
        return false;
    if (!def->unique) {
        int64_t id;

        memcpy(&id, row, sizeof(id));
        key_add_i64(key, id);
    }
    return true;
}

/* ---- rows ---- */

struct str table_row_text(const void *row, const struct text_def *def)
{
    struct str text;

    memcpy(&text, (const char *)row + def->offset, sizeof(text));
    return text;
}

static void *row_copy(const struct table_def *def, const void *row, int64_t id)
{
    size_t size = def->row_size;
    char *copy, *end;

    for (size_t i = 0; i < def->text_count; i++)
        size += table_row_text(row, &def->texts[i]).len + 1;
    copy = checked(malloc(size));
    memcpy(copy, row, def->row_size);
    memcpy(copy, &id, sizeof(id));
    end = copy + def->row_size;
    for (size_t i = 0; i < def->text_count; i++) {
        struct str text = table_row_text(row, &def->texts[i]);

        if (text.len > 0)
            memcpy(end, text.data, text.len);
        end[text.len] = '\0';
        text.data = end;
        memcpy(copy + def->texts[i].offset, &text, sizeof(text));
        end += text.len + 1;
    }
    return copy;
}

void table_init(struct table *table, const struct table_def *def)
{
    *table = (struct table){ .def = def, .next_id = 1 };
    for (size_t i = 0; i < def->index_count; i++)
        table->indexes[i] = (struct index){ .head = node_new(HEIGHT_MAX, NULL, 0), .dice = i };
}

void table_release(struct table *table)
{
    for (int64_t id = 1; id < table->next_id; id++)
        free(table->rows[id - 1]);
    free(table->rows);
    for (size_t i = 0; table->def != NULL && i < table->def->index_count; i++) {
        struct index_node *node = table->indexes[i].head;

        while (node != NULL) {
            struct index_node *next = node->next[0];

            node_free(node);
            node = next;
        }
    }
}

const void *table_get(const struct table *table, int64_t id)
{
    return id >= 1 && id < table->next_id ? table->rows[id - 1] : NULL;
}

/* Puts `row` (NULL: none) where `old` stood, in the table and all indexes. */
static void replace(struct table *table, int64_t id, void *old, void *row)
{
    struct key key = { 0 };

    for (size_t i = 0; i < table->def->index_count; i++) {
        const struct index_def *def = &table->def->indexes[i];

        if (key_of(def, old, &key))
            index_remove(&table->indexes[i], &key);
        if (key_of(def, row, &key))
            index_add(&table->indexes[i], &key, id);
    }
    key_release(&key);
    table->rows[id - 1] = row;
    table->count += (row != NULL) - (old != NULL);
}

static bool check_unique(const struct table *table, const void *row, struct error *err)
{
    struct index_node *before[HEIGHT_MAX];
    struct key key = { 0 };
    bool ok = true;
    int64_t id;

    memcpy(&id, row, sizeof(id));
    for (size_t i = 0; i < table->def->index_count && ok; i++) {
        const struct index_def *def = &table->def->indexes[i];
        const struct index_node *node;

        if (!def->unique || !key_of(def, row, &key))
            continue;
        node = seek(&table->indexes[i], &key, before);
        if (node != NULL && node->id != id &&
            compare(node->key, node->len, key.bytes, key.len) == 0)
            ok = error_set(err, ERROR_REQUEST, "store.constraint",
                           "%s: another row has the same key (%s)", table->def->name, def->name);
    }
    key_release(&key);
    return ok;
}

static void journal_add(struct journal *journal, struct table *table, int64_t id, void *old)
{
    if (journal->count == journal->capacity) {
        journal->capacity = journal->capacity * 2 + 64;
        journal->entries =
            checked(realloc(journal->entries, journal->capacity * sizeof(journal->entries[0])));
    }
    journal->entries[journal->count++] =
        (struct journal_entry){ .table = table, .id = id, .old = old, .next_id = table->next_id };
}

bool table_insert(struct table *table, struct journal *journal, const void *row, int64_t *id,
                  struct error *err)
{
    void *copy = row_copy(table->def, row, table->next_id);

    if (!check_unique(table, copy, err)) {
        free(copy);
        return false;
    }
    journal_add(journal, table, table->next_id, NULL);
    if ((size_t)table->next_id > table->capacity) {
        table->capacity = table->capacity * 2 + 64;
        table->rows = checked(realloc(table->rows, table->capacity * sizeof(table->rows[0])));
    }
    *id = table->next_id++;
    table->rows[*id - 1] = NULL;
    replace(table, *id, NULL, copy);
    return true;
}

bool table_update(struct table *table, struct journal *journal, const void *row, struct error *err)
{
    void *copy;
    int64_t id;

    memcpy(&id, row, sizeof(id));
    assert(table_get(table, id) != NULL);
    copy = row_copy(table->def, row, id); /* before anything goes: row may point into the old one */
    if (!check_unique(table, copy, err)) {
        free(copy);
        return false;
    }
    journal_add(journal, table, id, table->rows[id - 1]);
    replace(table, id, table->rows[id - 1], copy);
    return true;
}

void table_delete(struct table *table, struct journal *journal, int64_t id)
{
    assert(table_get(table, id) != NULL);
    journal_add(journal, table, id, table->rows[id - 1]);
    replace(table, id, table->rows[id - 1], NULL);
}

const void *table_find(const struct table *table, size_t index, const struct key *key)
{
    struct index_node *before[HEIGHT_MAX];
    const struct index_node *node = seek(&table->indexes[index], key, before);

    assert(table->def->indexes[index].unique);
    if (node == NULL || compare(node->key, node->len, key->bytes, key->len) != 0)
        return NULL;
    return table_get(table, node->id);
}

/* ---- scans ---- */

void scan_init(struct scan *scan, const struct table *table, size_t index, const struct key *from,
               size_t prefix)
{
    struct index_node *before[HEIGHT_MAX];

    *scan = (struct scan){ .table = table };
    if (from == NULL) {
        scan->next = table->indexes[index].head->next[0];
        return;
    }
    assert(prefix <= from->len);
    scan->next = seek(&table->indexes[index], from, before);
    key_room(&scan->prefix, prefix);
    if (prefix > 0)
        memcpy(scan->prefix.bytes, from->bytes, prefix);
    scan->prefix.len = prefix;
}

const void *scan_next(struct scan *scan)
{
    const struct index_node *node = scan->next;

    if (node == NULL || node->len < scan->prefix.len ||
        (scan->prefix.len > 0 && memcmp(node->key, scan->prefix.bytes, scan->prefix.len) != 0))
        return NULL;
    scan->next = node->next[0];
    return table_get(scan->table, node->id);
}

void scan_release(struct scan *scan)
{
    key_release(&scan->prefix);
}

/* ---- digest ---- */

static uint64_t mix(uint64_t hash, const void *bytes, size_t len)
{
    const unsigned char *byte = bytes;

    for (size_t i = 0; i < len; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t row_hash(const struct table_def *def, const void *row, uint64_t hash)
{
    const char *bytes = row;
    size_t done = 0;

    for (size_t i = 0; i < def->text_count; i++) { /* texts by what they say, not where they are */
        const struct str text = table_row_text(row, &def->texts[i]);

        assert(def->texts[i].offset >= done);
        hash = mix(hash, bytes + done, def->texts[i].offset - done);
        hash = mix(mix(hash, &text.len, sizeof(text.len)), text.data, text.len);
        done = def->texts[i].offset + sizeof(text);
    }
    return mix(hash, bytes + done, def->row_size - done);
}

uint64_t table_hash(const struct table *table, uint64_t seed)
{
    uint64_t hash = mix(seed, &table->next_id, sizeof(table->next_id));

    for (int64_t id = 1; id < table->next_id; id++) {
        if (table->rows[id - 1] != NULL)
            hash = row_hash(table->def, table->rows[id - 1], hash);
    }
    return hash;
}

/* ---- the journal ---- */

void journal_commit(struct journal *journal)
{
    for (size_t i = 0; i < journal->count; i++)
        free(journal->entries[i].old);
    journal->count = 0;
}

void journal_rollback(struct journal *journal)
{
    while (journal->count > 0) {
        const struct journal_entry *entry = &journal->entries[--journal->count];
        void *now = entry->table->rows[entry->id - 1];

        replace(entry->table, entry->id, now, entry->old);
        free(now);
        entry->table->next_id = entry->next_id;
    }
}

void journal_release(struct journal *journal)
{
    journal_rollback(journal);
    free(journal->entries);
    *journal = (struct journal){ 0 };
}
