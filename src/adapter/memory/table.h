/* table: rows in memory, with ordered indexes, unique keys and a journal.
 *
 * A row is a struct whose texts (its struct str members, listed) are copied along into one
 * block, and which is never changed: to change a row is to put another one in its place. So a
 * journal of (table, id, the row that stood there) undoes anything exactly, the next id included.
 *
 * Ids count from 1. Every index is ordered by keys of bytes that compare like the values they are
 * made of; a unique one refuses a second row of the same key, and the refusal names the index.
 *
 * There is no story here about running out of memory: the program ends.
 */
#ifndef PATRA_ADAPTER_MEMORY_TABLE_H
#define PATRA_ADAPTER_MEMORY_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"

/* ---- keys ---- */

struct key {
    unsigned char *bytes;
    size_t len;
    size_t capacity;
};

void key_release(struct key *key);
void key_add_i64(struct key *key, int64_t value);
void key_add_str(struct key *key, struct str value);

/* ---- what a table is ---- */

struct index_def {
    const char *name;
    bool unique;
    /* Writes the row's key; false: the row does not stand in this index. */
    bool (*key)(const void *row, struct key *key);
};

enum { TABLE_TEXTS_MAX = 24, TABLE_INDEXES_MAX = 6 };

enum text_kind { TEXT_PLAIN, TEXT_JSON, TEXT_BYTES };

struct text_def { /* a struct str member of a row */
    const char *name;
    size_t offset;
    enum text_kind kind; /* what the caller of table_insert() checks it for */
};

#define TEXT_DEF(row, member, kind)            \
    {                                          \
#member, offsetof(row, member), (kind) \
    }

struct table_def {
    const char *name;
    size_t row_size; /* of a struct that begins with int64_t id */
    size_t text_count;
    struct text_def texts[TABLE_TEXTS_MAX]; /* by offset */
    size_t index_count;
    struct index_def indexes[TABLE_INDEXES_MAX];
};

struct index {
    struct index_node *head;
    uint64_t dice; /* heights: the same in every run */
};

struct table {
    const struct table_def *def;
    void **rows; /* by id - 1; NULL where there is none */
    size_t capacity;
    int64_t next_id;
    int64_t count;
    struct index indexes[TABLE_INDEXES_MAX];
};

struct journal_entry {
    struct table *table;
    int64_t id;
    void *old; /* NULL: there was none */
    int64_t next_id;
};

struct journal {
    struct journal_entry *entries;
    size_t count;
    size_t capacity;
};

struct str table_row_text(const void *row, const struct text_def *def);

void table_init(struct table *table, const struct table_def *def);
void table_release(struct table *table);

/* The row, valid until the next change of that row; NULL when there is none. */
const void *table_get(const struct table *table, int64_t id);

/* Adds a copy under the next id, or puts it in the place of the row with its id. */
bool table_insert(struct table *table, struct journal *journal, const void *row, int64_t *id,
                  struct error *err) MUST_CHECK;
bool table_update(struct table *table, struct journal *journal, const void *row,
                  struct error *err) MUST_CHECK;
void table_delete(struct table *table, struct journal *journal, int64_t id);

/* The row with exactly this key; NULL when there is none. */
const void *table_find(const struct table *table, size_t index, const struct key *key);

/* Rows in the order of an index, from the first whose key is not before `from` (NULL: the first),
 * as long as they begin with the first `prefix` bytes of it. */
struct scan {
    const struct table *table;
    const struct index_node *next;
    struct key prefix;
};

void scan_init(struct scan *scan, const struct table *table, size_t index, const struct key *from,
               size_t prefix);
const void *scan_next(struct scan *scan); /* NULL: that was all */
void scan_release(struct scan *scan);

/* A digest of all rows and of the next id. */
uint64_t table_hash(const struct table *table, uint64_t seed);

void journal_commit(struct journal *journal);
void journal_rollback(struct journal *journal);
void journal_release(struct journal *journal);

#endif
