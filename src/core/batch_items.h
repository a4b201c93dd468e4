/* batch_items: what became of each item of a batch, in few bytes; a column of the batch's row.
 *
 *      struct batch_item_writer writer = batch_items_begin(&out);
 *      batch_items_add(&writer, &(struct batch_item){ BATCH_ITEM_NEW, id, hash }); ... each ...
 *
 *      struct batch_item_reader reader = batch_items_read(&arena, bytes);
 *      while (batch_items_next(&reader, &item)) ...
 *      if (reader.is_broken) ...
 *
 * The bytes: a 2 (the version), then for each item a byte for what became of it, how many bytes its
 * id has in common with the beginning of the id before it, how many follow (both numbers 7 bits a
 * byte, the lowest first), those that follow, and the first 8 bytes of its content hash; zeros
 * where none was computed. Ids come in order, so most of each is in the one before. That is less
 * than a hundredth of what the records themselves take, and enough to compare a response with the
 * one of then, record by record. Bytes of version 1 had each id whole; they are read as well.
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

struct batch_item_writer {
    struct buf *out;
    struct str last_id;
};

/* Each id must live until the next one was added. */
struct batch_item_writer batch_items_begin(struct buf *out);
void batch_items_add(struct batch_item_writer *writer, const struct batch_item *item);

struct batch_item_reader {
    struct arena *arena;
    struct str rest;
    struct str last_id;
    unsigned version;
    bool is_broken; /* these are not such bytes, or of a later version, or the arena is full */
};

/* Ids are views of the bytes, or in the arena. Empty bytes have no items. */
struct batch_item_reader batch_items_read(struct arena *arena, struct str bytes);
bool batch_items_next(struct batch_item_reader *reader, struct batch_item *item);

/* The first 8 bytes of a hash in hex, as items have it; 0 where it is no such text. */
uint64_t batch_item_hash(struct str hex);

#endif
