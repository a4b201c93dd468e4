/* Items of a batch as bytes. */
#include "core/batch_items.h"

#include <assert.h>
#include <string.h>

#include "base/hex.h"

enum { VERSION_WHOLE = 1, VERSION = 2 };
enum { HASH_LEN = 8, HASH_DIGITS = 2 * HASH_LEN, LENGTH_BYTES_MAX = 3 };
enum { ID_LEN_MAX = (1 << 7 * LENGTH_BYTES_MAX) - 1 };

static const struct code_item ITEMS[] = {
    [BATCH_ITEM_NEW] = CODE_ITEM("NEW", "stored for the first time"),
    [BATCH_ITEM_CHANGED] = CODE_ITEM("CHANGED", "stored as a new version"),
    [BATCH_ITEM_UNCHANGED] = CODE_ITEM("UNCHANGED", "the same as what was stored"),
    [BATCH_ITEM_OLDER] = CODE_ITEM("OLDER", "older than what was stored"),
    [BATCH_ITEM_DELETED] = CODE_ITEM("DELETED", "the source has deleted it"),
    [BATCH_ITEM_QUARANTINED] = CODE_ITEM("QUARANTINED", "could not be judged"),
    [BATCH_ITEM_LISTED] = CODE_ITEM("LISTED", "an id whose record was requested later"),
    [BATCH_ITEM_LOST] = CODE_ITEM("LOST", "requested and not received"),
};
const struct code_table BATCH_ITEM_CODES =
    CODE_TABLE("ing_batch_item", "what became of an item of a batch", ITEMS);

/* ---- writing ---- */

struct batch_item_writer batch_items_begin(struct buf *out)
{
    buf_add_char(out, VERSION);
    return (struct batch_item_writer){ .out = out };
}

static void add_length(struct buf *out, size_t length)
{
    for (; length > 0x7F; length >>= 7)
        buf_add_char(out, (char)(0x80 | (length & 0x7F)));
    buf_add_char(out, (char)length);
}

static size_t common_length(struct str a, struct str b)
{
    const size_t max = a.len < b.len ? a.len : b.len;
    size_t length = 0;

    while (length < max && a.data[length] == b.data[length])
        length++;
    return length;
}

void batch_items_add(struct batch_item_writer *writer, const struct batch_item *item)
{
    const size_t common = common_length(writer->last_id, item->id);
    struct buf *out = writer->out;
    char hash[HASH_LEN];

    assert(item->id.len <= ID_LEN_MAX);
    for (int i = 0; i < HASH_LEN; i++)
        hash[i] = (char)(item->hash >> 8 * (HASH_LEN - 1 - i));
    buf_add_char(out, (char)item->kind);
    add_length(out, common);
    add_length(out, item->id.len - common);
    buf_add(out, str_slice(item->id, common, item->id.len));
    buf_add(out, (struct str){ hash, HASH_LEN });
    writer->last_id = item->id;
}

/* ---- reading ---- */

static bool take_byte(struct str *rest, unsigned *byte)
{
    if (rest->len == 0)
        return false;
    *byte = (unsigned char)rest->data[0];
    *rest = str_slice(*rest, 1, rest->len);
    return true;
}

static bool take_length(struct str *rest, size_t *length)
{
    unsigned byte = 0x80;

    *length = 0;
    for (int i = 0; i < LENGTH_BYTES_MAX && (byte & 0x80) != 0; i++) {
        if (!take_byte(rest, &byte))
            return false;
        *length |= (size_t)(byte & 0x7F) << 7 * i;
    }
    return (byte & 0x80) == 0;
}

/* The beginning of the id before it, and what follows in the bytes. */
static bool join_id(struct batch_item_reader *reader, size_t common, struct str own, struct str *id)
{
    char *bytes;

    *id = own;
    if (common == 0)
        return true;
    if (common > reader->last_id.len)
        return false;
    bytes = arena_alloc_raw(reader->arena, common + own.len);
    if (bytes == NULL)
        return false;
    memcpy(bytes, reader->last_id.data, common);
    memcpy(bytes + common, own.data, own.len);
    *id = (struct str){ bytes, common + own.len };
    return true;
}

static bool take_id(struct batch_item_reader *reader, struct str *id)
{
    struct str *rest = &reader->rest;
    size_t common = 0, length;
    struct str own;

    if ((reader->version != VERSION_WHOLE && !take_length(rest, &common)) ||
        !take_length(rest, &length) || rest->len < length + HASH_LEN ||
        common + length > ID_LEN_MAX)
        return false;
    own = str_slice(*rest, 0, length);
    *rest = str_slice(*rest, length, rest->len);
    if (!join_id(reader, common, own, id))
        return false;
    reader->last_id = *id;
    return true;
}

static bool take_item(struct batch_item_reader *reader, struct batch_item *item)
{
    struct str *rest = &reader->rest;
    unsigned kind, byte;

    *item = (struct batch_item){ 0 };
    if (!take_byte(rest, &kind) || kind >= BATCH_ITEM_CODES.count || !take_id(reader, &item->id))
        return false;
    item->kind = (enum batch_item_kind)kind;
    for (int i = 0; i < HASH_LEN; i++) {
        if (!take_byte(rest, &byte))
            return false;
        item->hash = item->hash << 8 | byte;
    }
    return true;
}

struct batch_item_reader batch_items_read(struct arena *arena, struct str bytes)
{
    struct batch_item_reader reader = { .arena = arena, .rest = bytes };

    if (bytes.len > 0)
        reader.is_broken = !take_byte(&reader.rest, &reader.version) ||
                           reader.version < VERSION_WHOLE || reader.version > VERSION;
    return reader;
}

bool batch_items_next(struct batch_item_reader *reader, struct batch_item *item)
{
    if (reader->is_broken || reader->rest.len == 0)
        return false;
    reader->is_broken = !take_item(reader, item);
    return !reader->is_broken;
}

/* ---- hashes ---- */

uint64_t batch_item_hash(struct str hex)
{
    uint64_t hash = 0;

    if (hex.len < HASH_DIGITS)
        return 0;
    for (int i = 0; i < HASH_DIGITS; i++) {
        const int digit = hex_small_digit(hex.data[i]);

        if (digit < 0)
            return 0;
        hash = hash << 4 | (uint64_t)digit;
    }
    return hash;
}
