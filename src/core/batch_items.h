/* batch_items: what became of each item of a batch, in few bytes; a column of the batch's row.
 *
 *      batch_items_begin(&out);
 *      batch_items_add(&out, &(struct batch_item){ BATCH_ITEM_NEW, id, hash });    ... each ...
 *
 *      struct batch_item_reader reader = batch_items_read(bytes);
 *      while (batch_items_next(&reader, &item)) ...
 *      if (reader.is_broken) ...
 *
 * The bytes: a 1 (the version), then for each item a byte for what became of it, the length of its
 * id (7 bits a byte, the lowest first), the id, and the first 8 bytes of its content hash; zeros
 * where none was computed. That is about a hundredth of what the records themselves take, and
 * enough to compare a response with the one of then, record by record.
 */
#ifndef PATRA_CORE_BATCH_ITEMS_H
#define PATRA_CORE_BATCH_ITEMS_H

#include <stdint.h>

#include "base/buf.h"
#include "core/codes.h"

enum batch_item_kind {
    BATCH_ITEM_NEW,
    BATCH_ITEM_CHANGED,
    BATCH_ITEM_UNCHANGED,
    BATCH_ITEM_OLDER, /* than what was stored; no hash */
    BATCH_ITEM_DELETED,
    BATCH_ITEM_QUARANTINED, /* no hash; the id may be empty */
    BATCH_ITEM_LISTED,      /* by phase one: an id, no hash */
    BATCH_ITEM_LOST,        /* requested, and not received: an id, no hash */
};

extern const struct code_table BATCH_ITEM_CODES;

struct batch_item {
    enum batch_item_kind kind;
    struct str id;
    uint64_t hash; /* 0: none */
};

void batch_items_begin(struct buf *out);
void batch_items_add(struct buf *out, const struct batch_item *item);

struct batch_item_reader {
    struct str rest;
    bool is_broken; /* these are not such bytes, or of a later version */
};

/* Views of the bytes. Empty bytes have no items. */
struct batch_item_reader batch_items_read(struct str bytes);
bool batch_items_next(struct batch_item_reader *reader, struct batch_item *item);

/* The first 8 bytes of a hash in hex, as items have it; 0 where it is no such text. */
uint64_t batch_item_hash(struct str hex);

#endif
