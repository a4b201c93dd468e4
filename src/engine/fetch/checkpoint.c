/* Checkpoints as JSON: a table of members for both directions, and the few that are texts. */
#include "engine/fetch/checkpoint.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/hex.h"
#include "data/json.h"
#include "data/json_write.h"

/* ---- numbers and flags, by one table for both directions ---- */

enum { SCOPE_ROOT, SCOPE_PAGE, SCOPE_PROOF, SCOPE_IDS, SCOPE_FEED, SCOPE_BULK, SCOPES };
static const char *const scope_names[SCOPES] = { NULL, "page", "proof", "ids", "feed", "bulk" };

struct member {
    int scope;
    const char *name;
    int64_t *number; /* one of these four */
    int *small;
    size_t *size;
    bool *flag;
};

enum { MEMBERS_MAX = 72 };

struct members {
    struct member items[MEMBERS_MAX];
    size_t count;
};

static void list_members(struct members *list, struct checkpoint *c, struct proof *proof)
{
    const struct member members[] = {
        { SCOPE_ROOT, "sweep", .small = &c->sweep },
        { SCOPE_ROOT, "restarts", .small = &c->restarts },
        { SCOPE_ROOT, "requests", .number = &c->requests },
        { SCOPE_ROOT, "records", .number = &c->records },
        { SCOPE_ROOT, "spent", .number = &c->spent },
        { SCOPE_ROOT, "seen", .number = &c->seen },
        { SCOPE_ROOT, "listed", .flag = &c->is_listed },
        { SCOPE_PAGE, "number", .number = &c->page.number },
        { SCOPE_PAGE, "offset", .number = &c->page.offset },
        { SCOPE_PAGE, "pageNo", .number = &c->page.page_no },
        { SCOPE_PAGE, "size", .number = &c->page.size },
        { SCOPE_PAGE, "fromUs", .number = &c->page.rest.from_us },
        { SCOPE_PAGE, "toUs", .number = &c->page.rest.to_us },
        { SCOPE_PAGE, "largest", .number = &c->page.largest },
        { SCOPE_PAGE, "lookedLast", .number = &c->page.looked_last },
        { SCOPE_PAGE, "clamp", .number = &c->page.clamp },
        { SCOPE_PAGE, "edgeUs", .number = &c->page.edge_us },
        { SCOPE_PAGE, "holeUs", .number = &c->page.hole_us },
        { SCOPE_PAGE, "backUs", .number = &c->page.back_us },
        { SCOPE_PAGE, "missedUs", .number = &c->page.missed_us },
        { SCOPE_PAGE, "firstUs", .number = &c->page.first_us },
        { SCOPE_PAGE, "misses", .small = &c->page.misses },
        { SCOPE_PAGE, "order", .small = &c->page.order },
        { SCOPE_PAGE, "emptyPages", .small = &c->page.empty_pages },
        { SCOPE_PAGE, "hasEdge", .flag = &c->page.has_edge },
        { SCOPE_PAGE, "isUnsorted", .flag = &c->page.is_unsorted },
        { SCOPE_PAGE, "hasHole", .flag = &c->page.has_hole },
        { SCOPE_PAGE, "isExclusive", .flag = &c->page.is_exclusive },
        { SCOPE_PAGE, "isHead", .flag = &c->page.is_head },
        { SCOPE_PAGE, "hasMissed", .flag = &c->page.has_missed },
        { SCOPE_PAGE, "isProbe", .flag = &c->page.is_probe },
        { SCOPE_PAGE, "wasShort", .flag = &c->page.was_short },
        { SCOPE_PAGE, "wasRepeat", .flag = &c->page.was_repeat },
        { SCOPE_PAGE, "wasLast", .flag = &c->page.was_last },
        { SCOPE_PAGE, "isMoreWrong", .flag = &c->page.is_more_wrong },
        { SCOPE_PROOF, "pages", .number = &proof->pages },
        { SCOPE_PROOF, "items", .number = &proof->items },
        { SCOPE_PROOF, "distinct", .number = &proof->distinct },
        { SCOPE_PROOF, "unnamed", .number = &proof->unnamed },
        { SCOPE_PROOF, "pageRepeats", .number = &proof->page_repeats },
        { SCOPE_PROOF, "repeats", .number = &proof->repeats },
        { SCOPE_PROOF, "hasTotal", .flag = &proof->has_total },
        { SCOPE_PROOF, "totalMoved", .flag = &proof->total_moved },
        { SCOPE_PROOF, "totalFirst", .number = &proof->total_first },
        { SCOPE_PROOF, "totalLast", .number = &proof->total_last },
        { SCOPE_PROOF, "totalMost", .number = &proof->total_most },
        { SCOPE_PROOF, "idSum", .number = &proof->id_sum },
        { SCOPE_PROOF, "priorDistinct", .number = &proof->prior.distinct },
        { SCOPE_PROOF, "priorPageRepeats", .number = &proof->prior.page_repeats },
        { SCOPE_PROOF, "priorIdSum", .number = &proof->prior.id_sum },
        { SCOPE_IDS, "listed", .size = &c->id_count },
        { SCOPE_IDS, "next", .size = &c->id_next },
        { SCOPE_IDS, "lost", .number = &c->lost },
        { SCOPE_IDS, "refused", .number = &c->refused },
        { SCOPE_IDS, "failed", .number = &c->failed },
        { SCOPE_IDS, "childless", .number = &c->childless },
        { SCOPE_IDS, "doubts", .number = &c->doubts },
        { SCOPE_FEED, "isFull", .flag = &c->feed.is_full },
        { SCOPE_FEED, "fullUs", .number = &c->feed.full_us },
        { SCOPE_FEED, "isBridged", .flag = &c->feed.is_bridged },
        { SCOPE_FEED, "isLatestWrong", .flag = &c->feed.is_latest_wrong },
        { SCOPE_FEED, "isTokenSent", .flag = &c->feed.is_token_sent },
        { SCOPE_BULK, "records", .number = &c->bulk.place.records },
        { SCOPE_BULK, "bytes", .number = &c->bulk.place.bytes },
        { SCOPE_BULK, "others", .number = &c->bulk.others },
        { SCOPE_BULK, "isPacked", .flag = &c->bulk.file.is_packed },
        { SCOPE_BULK, "hasLength", .flag = &c->bulk.file.has_length },
        { SCOPE_BULK, "length", .number = &c->bulk.file.length },
    };

    static_assert(ARRAY_LEN(members) <= MEMBERS_MAX, "all fit");
    memcpy(list->items, members, sizeof(members));
    list->count = ARRAY_LEN(members);
}

/* ---- writing ---- */

static void write_member(struct json_writer *w, const struct member *member)
{
    const struct str name = str_of(member->name);

    if (member->flag != NULL) {
        if (*member->flag)
            json_write_member_bool(w, name, true);
        return;
    }
    if (member->number != NULL && *member->number != 0)
        json_write_member_i64(w, name, *member->number);
    else if (member->small != NULL && *member->small != 0)
        json_write_member_i64(w, name, *member->small);
    else if (member->size != NULL && *member->size != 0)
        json_write_member_i64(w, name, (int64_t)*member->size);
}

/* A text that people can read stays readable. */
static bool is_plain(struct str token)
{
    for (size_t i = 0; i < token.len; i++) {
        if ((unsigned char)token.data[i] < ' ')
            return false;
    }
    return str_is_utf8(token);
}

static void write_hex(struct json_writer *w, struct arena *arena, const char *name,
                      const void *bytes, size_t count)
{
    struct buf hex;

    buf_init(&hex, arena, CHECKPOINT_BYTES_MAX);
    buf_add_hex(&hex, bytes, count);
    json_write_member_str(w, str_of(name), buf_str(&hex));
}

static void write_tail(struct json_writer *w, struct arena *arena, const struct proof *proof)
{
    struct buf hex;

    buf_init(&hex, arena, CHECKPOINT_BYTES_MAX);
    for (size_t i = 0; i < proof->tail_count; i++)
        buf_printf(&hex, "%016" PRIx64, proof->tail[i]);
    json_write_member_str(w, STR("tail"), buf_str(&hex));
}

static void write_ids(struct json_writer *w, struct str name, struct id_list ids)
{
    if (ids.count == 0)
        return;
    json_write_name(w, name);
    json_write_array(w);
    for (size_t i = 0; i < ids.count; i++)
        json_write_str(w, ids.items[i]);
    json_write_end(w);
}

static void write_feed(struct json_writer *w, const struct checkpoint_feed *feed)
{
    const struct {
        const char *name;
        struct str text;
    } texts[] = { { "at", feed->at },
                  { "behind", feed->behind },
                  { "latest", feed->latest },
                  { "seen", feed->seen } };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        if (texts[i].text.data != NULL)
            json_write_member_str(w, str_of(texts[i].name), texts[i].text);
    }
}

static void write_texts(struct json_writer *w, struct arena *arena, const struct checkpoint *c,
                        int scope)
{
    const struct str token = c->page.token;

    if (scope == SCOPE_ROOT)
        json_write_member_str(w, STR("end"), str_of(page_reason_name(c->end)));
    if (scope == SCOPE_PAGE && token.data != NULL) {
        if (is_plain(token))
            json_write_member_str(w, STR("token"), token);
        else
            write_hex(w, arena, "tokenHex", token.data, token.len);
    }
    if (scope == SCOPE_FEED)
        write_feed(w, &c->feed);
    if (scope == SCOPE_BULK) {
        write_hex(w, arena, "sum", c->bulk.place.sum.bytes, sizeof(c->bulk.place.sum.bytes));
        json_write_member_str(w, STR("etag"), str_of(c->bulk.file.etag));
        json_write_member_str(w, STR("modified"), str_of(c->bulk.file.modified));
    }
    if (scope == SCOPE_PROOF && c->proof->tail_count > 0)
        write_tail(w, arena, c->proof);
    if (scope == SCOPE_IDS) {
        write_ids(w, STR("again"), c->again);
        write_ids(w, STR("late"), c->late);
    }
}

bool checkpoint_write(const struct checkpoint *checkpoint, struct arena *arena, struct str *json,
                      struct error *err)
{
    struct checkpoint copy = *checkpoint; /* the table of members has pointers that are not const */
    struct proof counts = *checkpoint->proof;
    struct members members;
    struct json_writer w;
    struct buf out;

    list_members(&members, &copy, &counts);
    buf_init(&out, arena, CHECKPOINT_BYTES_MAX);
    json_writer_init(&w, &out);
    json_write_object(&w);
    json_write_member_i64(&w, STR("v"), CHECKPOINT_VERSION);
    for (int scope = 0; scope < SCOPES; scope++) {
        if ((scope == SCOPE_FEED && !checkpoint->feed.is_on) ||
            (scope == SCOPE_BULK && !checkpoint->bulk.is_on))
            continue;
        if (scope_names[scope] != NULL) {
            json_write_name(&w, str_of(scope_names[scope]));
            json_write_object(&w);
        }
        for (size_t i = 0; i < members.count; i++) {
            if (members.items[i].scope == scope)
                write_member(&w, &members.items[i]);
        }
        write_texts(&w, arena, checkpoint, scope);
        if (scope_names[scope] != NULL)
            json_write_end(&w);
    }
    json_write_end(&w);
    *json = buf_str(&out);
    return buf_ok(&out, err);
}

/* ---- reading ---- */

static bool unreadable(struct error *err, const char *what)
{
    return error_set(err, ERROR_FATAL, "fetch.checkpoint", "the checkpoint is unreadable: %s",
                     what);
}

static bool read_member(const struct json_doc *doc, struct json_node scope,
                        const struct member *member)
{
    const struct json_node node = json_get(doc, scope, str_of(member->name));
    int64_t value = 0;

    if (member->flag != NULL) {
        *member->flag = false;
        return !json_exists(node) || json_bool(doc, node, member->flag);
    }
    if (json_exists(node) && !json_i64(doc, node, &value))
        return false;
    if (member->number != NULL)
        *member->number = value;
    else if (value < 0 || value > INT32_MAX)
        return false;
    else if (member->small != NULL)
        *member->small = (int)value;
    else
        *member->size = (size_t)value;
    return true;
}

static bool read_hex(struct str hex, unsigned char *out, size_t room, size_t *count)
{
    if (hex.len % 2 != 0 || hex.len / 2 > room)
        return false;
    for (*count = 0; *count < hex.len / 2; (*count)++) {
        const int high = hex_small_digit(hex.data[2 * *count]);
        const int low = hex_small_digit(hex.data[2 * *count + 1]);

        if (high < 0 || low < 0)
            return false;
        out[*count] = (unsigned char)(high << 4 | low);
    }
    return true;
}

/* A JSON text that is read into a checkpoint. */
struct reading {
    const struct json_doc *doc;
    struct arena *arena;
    struct error *err;
};

/* The decoded text of a member; data NULL where there is none. */
static bool read_text(const struct reading *reading, struct json_node node, const char *name,
                      struct str *text)
{
    const struct json_node member = json_get(reading->doc, node, str_of(name));

    *text = (struct str){ NULL, 0 };
    if (!json_exists(member))
        return true;
    if (json_type(reading->doc, member) != JSON_STRING)
        return unreadable(reading->err, name);
    if (!json_string(reading->doc, member, reading->arena, text, reading->err))
        return false;
    if (text->data == NULL)
        *text = STR("");
    return true;
}

static bool read_token(const struct reading *reading, struct json_node page, struct str *token)
{
    unsigned char *bytes;
    struct str hex;
    size_t count;

    if (!read_text(reading, page, "token", token) || !read_text(reading, page, "tokenHex", &hex))
        return false;
    if (hex.data == NULL)
        return true;
    bytes = arena_alloc(reading->arena, hex.len / 2);
    if (bytes == NULL)
        return arena_error(reading->arena, reading->err);
    if (!read_hex(hex, bytes, hex.len / 2, &count))
        return unreadable(reading->err, "tokenHex");
    *token = (struct str){ (const char *)bytes, count };
    return true;
}

static bool read_tail(const struct reading *reading, struct json_node node, struct proof *proof)
{
    unsigned char bytes[8];
    struct str hex;
    size_t count;
    bool is_new;

    proof->tail_count = 0;
    if (!read_text(reading, node, "tail", &hex))
        return false;
    for (; hex.len > 0; hex = str_slice(hex, 16, hex.len)) {
        uint64_t hash = 0;

        if (!read_hex(str_slice(hex, 0, 16), bytes, sizeof(bytes), &count) ||
            count != sizeof(bytes) || proof->tail_count == PROOF_TAIL_MAX)
            return unreadable(reading->err, "tail");
        for (size_t i = 0; i < count; i++)
            hash = hash << 8 | bytes[i];
        proof->tail[proof->tail_count++] = hash;
        if (!id_set_add(&proof->ids, hash != 0 ? hash : 1, &is_new, reading->err))
            return false;
    }
    return true;
}

static bool read_ids(const struct reading *reading, struct json_node node, const char *name,
                     struct id_list *ids)
{
    const struct json_doc *doc = reading->doc;
    const struct json_node list = json_get(doc, node, str_of(name));

    *ids = (struct id_list){ ARENA_ARRAY(reading->arena, struct str, json_count(doc, list)), 0 };
    if (ids->items == NULL)
        return arena_error(reading->arena, reading->err);
    for (struct json_iter it = json_each(doc, list); json_next(&it);) {
        if (json_type(doc, it.value) != JSON_STRING)
            return unreadable(reading->err, name);
        if (!json_string(doc, it.value, reading->arena, &ids->items[ids->count++], reading->err))
            return false;
    }
    return true;
}

static bool read_feed(const struct reading *reading, struct json_node node,
                      struct checkpoint_feed *feed)
{
    feed->is_on = json_exists(node);
    return read_text(reading, node, "at", &feed->at) &&
           read_text(reading, node, "behind", &feed->behind) &&
           read_text(reading, node, "latest", &feed->latest) &&
           read_text(reading, node, "seen", &feed->seen);
}

static bool read_bulk(const struct reading *reading, struct json_node node,
                      struct checkpoint_bulk *bulk)
{
    struct hash_sum *sum = &bulk->place.sum;
    struct str hex, etag, modified;
    size_t count = 0;

    bulk->is_on = json_exists(node);
    if (!bulk->is_on)
        return true;
    if (!read_text(reading, node, "sum", &hex) || !read_text(reading, node, "etag", &etag) ||
        !read_text(reading, node, "modified", &modified))
        return false;
    if (!read_hex(hex, sum->bytes, sizeof(sum->bytes), &count) || count != sizeof(sum->bytes) ||
        bulk->place.records < 0 || bulk->place.bytes < 0 || bulk->others < 0 ||
        !bulk_file_keep(bulk->file.etag, etag) || !bulk_file_keep(bulk->file.modified, modified))
        return unreadable(reading->err, "bulk");
    return true;
}

static bool read_end(const struct reading *reading, enum page_reason *end)
{
    struct str text;

    if (!read_text(reading, json_root(reading->doc), "end", &text))
        return false;
    for (int reason = 0; reason <= PAGE_UNSURE_LOOP; reason++) {
        if (str_eq(text, str_of(page_reason_name((enum page_reason)reason)))) {
            *end = (enum page_reason)reason;
            return true;
        }
    }
    return unreadable(reading->err, "end");
}

bool checkpoint_read(struct checkpoint *checkpoint, struct arena *arena, struct str json,
                     struct proof *proof, struct error *err)
{
    struct json_node nodes[SCOPES];
    struct json_doc doc;
    const struct reading reading = { .doc = &doc, .arena = arena, .err = err };
    struct members members;
    int64_t version;

    *checkpoint = (struct checkpoint){ .proof = proof };
    if (!json_parse(&doc, arena, json, err))
        return unreadable(err, "not JSON");
    if (!json_i64(&doc, json_get(&doc, json_root(&doc), STR("v")), &version) ||
        version != CHECKPOINT_VERSION)
        return unreadable(err, "not of this version");
    list_members(&members, checkpoint, proof);
    for (int scope = 0; scope < SCOPES; scope++)
        nodes[scope] = scope_names[scope] == NULL
                           ? json_root(&doc)
                           : json_get(&doc, json_root(&doc), str_of(scope_names[scope]));
    for (size_t i = 0; i < members.count; i++) {
        if (!read_member(&doc, nodes[members.items[i].scope], &members.items[i]))
            return unreadable(err, members.items[i].name);
    }
    return read_end(&reading, &checkpoint->end) &&
           read_token(&reading, nodes[SCOPE_PAGE], &checkpoint->page.token) &&
           read_tail(&reading, nodes[SCOPE_PROOF], proof) &&
           read_ids(&reading, nodes[SCOPE_IDS], "again", &checkpoint->again) &&
           read_ids(&reading, nodes[SCOPE_IDS], "late", &checkpoint->late) &&
           read_feed(&reading, nodes[SCOPE_FEED], &checkpoint->feed) &&
           read_bulk(&reading, nodes[SCOPE_BULK], &checkpoint->bulk);
}
