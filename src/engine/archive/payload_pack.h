/* payload_pack: the payloads of records as they are stored by endpoints with payload.packed: each
 * by itself, with a dictionary of what the payloads of the endpoint have in common.
 *
 *      payload_pack_begin()   before each batch: the dictionary of its endpoint, the newest that
 * the store has; where there is none, one is made as soon as the endpoint has PAYLOAD_SAMPLES
 * records payload_pack_row()     a payload as it is received → as it is stored
 *
 * Without a dictionary payloads are stored as received, and so is one that would not become
 * smaller. A row says by which dictionary it is packed, so rows of all kinds live together, and the
 * setting may change at any time. Who reads a record gets its payload as received: the store
 * unpacks (adapter/sql/payload.h). Hashes are of the bytes as received.
 *
 * The dictionary is looked up for every batch, not once: the store may be another one by then, a
 * backup or a standby that lacks it, and nothing could unpack what it packed.
 */
#ifndef PATRA_ENGINE_ARCHIVE_PAYLOAD_PACK_H
#define PATRA_ENGINE_ARCHIVE_PAYLOAD_PACK_H

#include "port/body_packer.h"
#include "port/store_archive.h"
#include "port/store_record.h"

/* Records that a dictionary is made of: the first ones of the endpoint. */
enum { PAYLOAD_SAMPLES = 1000 };

struct payload_pack {
    struct store *store;
    bool (*packer_open)(struct body_packer **packer, struct error *err);
    struct body_packer *packer;           /* of the dictionary; NULL: there is none */
    struct arena memory;                  /* the dictionary */
    struct archive_dictionary dictionary; /* id 0: none */
    int64_t waits;                        /* so many batches before one is tried to be made, */
    int64_t gap;                          /* and then so many before the next try */
};

void payload_pack_init(struct payload_pack *pack, struct store *store,
                       bool (*packer_open)(struct body_packer **packer, struct error *err));
void payload_pack_release(struct payload_pack *pack); /* accepts the zero value */

/* Without a transaction. */
bool payload_pack_begin(struct payload_pack *pack, struct str source, struct str endpoint,
                        int64_t now_us, struct error *err) MUST_CHECK;

/* Changes row->payload and row->dictionary_id; in the arena. */
bool payload_pack_row(struct payload_pack *pack, struct arena *arena, struct record_write *row,
                      struct error *err) MUST_CHECK;

#endif
