/* Writes what a request was made of as JSON, and reads it back. */
#include "engine/fetch/request_kept.h"

#include "base/list.h"
#include "data/base64.h"
#include "data/json_write.h"

/* ---- writing ---- */

static bool is_plain(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if ((unsigned char)text.data[i] < ' ')
            return false;
    }
    return str_is_utf8(text);
}

static void write_token(struct json_writer *w, struct arena *arena, struct str token)
{
    struct buf encoded;

    if (token.data == NULL)
        return;
    if (is_plain(token)) {
        json_write_member_str(w, STR("token"), token);
        return;
    }
    buf_init(&encoded, arena, (size_t)2 * REQUEST_BYTES_MAX);
    base64_encode(&encoded, token);
    json_write_member_str(w, STR("tokenBase64"), buf_str(&encoded));
}

static void write_if(struct json_writer *w, const char *name, int64_t number)
{
    if (number != 0)
        json_write_member_i64(w, str_of(name), number);
}

static void write_flag(struct json_writer *w, const char *name, bool flag)
{
    if (flag)
        json_write_member_bool(w, str_of(name), true);
}

static void write_ids(struct json_writer *w, const struct request_kept *kept)
{
    if (kept->id_count == 0)
        return;
    json_write_name(w, STR("ids"));
    json_write_array(w);
    for (size_t i = 0; i < kept->id_count; i++)
        json_write_str(w, kept->ids[i]);
    json_write_end(w);
}

static void write_history(struct json_writer *w, const struct request_kept *kept)
{
    if (kept->history_count == 0)
        return;
    json_write_name(w, STR("history"));
    json_write_object(w);
    for (size_t i = 0; i < kept->history_count; i++)
        json_write_member_str(w, kept->history[i].name, kept->history[i].value);
    json_write_end(w);
}

struct str request_kept_write(const struct request_kept *kept, struct arena *arena)
{
    struct json_writer w;
    struct buf out;

    buf_init(&out, arena, (size_t)4 * REQUEST_BYTES_MAX);
    json_writer_init(&w, &out);
    json_write_object(&w);
    json_write_member_str(&w, STR("endpoint"), kept->endpoint);
    write_flag(&w, "idsOnly", kept->ids_only);
    write_flag(&w, "childPage", kept->is_child_page);
    write_flag(&w, "stream", kept->is_stream);
    write_if(&w, "number", kept->number);
    write_if(&w, "page", kept->page_no);
    write_if(&w, "offset", kept->offset);
    write_if(&w, "size", kept->size);
    write_token(&w, arena, kept->token);
    if (window_is_valid(kept->window)) {
        json_write_member_i64(&w, STR("from"), kept->window.from_us);
        json_write_member_i64(&w, STR("to"), kept->window.to_us);
    }
    if (kept->has_since)
        json_write_member_i64(&w, STR("since"), kept->since_us);
    if (kept->after.data != NULL)
        json_write_member_str(&w, STR("after"), kept->after);
    write_ids(&w, kept);
    write_history(&w, kept);
    json_write_end(&w);
    return out.failed ? (struct str){ NULL, 0 } : buf_str(&out);
}

/* ---- reading ---- */

struct reading {
    struct json_doc doc;
    struct arena *arena;
    struct error *err;
};

static bool unreadable(struct error *err, const char *what)
{
    return error_set(err, ERROR_FATAL, "request.kept", "what the request was made of: %s", what);
}

static struct json_node member(const struct reading *r, const char *name)
{
    return json_get(&r->doc, json_root(&r->doc), str_of(name));
}

static bool read_number(const struct reading *r, const char *name, int64_t *number, bool *has)
{
    const struct json_node node = member(r, name);

    *number = 0;
    if (has != NULL)
        *has = json_exists(node);
    return !json_exists(node) || json_i64(&r->doc, node, number) || unreadable(r->err, name);
}

static bool read_count(const struct reading *r, const char *name, int64_t *number)
{
    return read_number(r, name, number, NULL) && (*number >= 0 || unreadable(r->err, name));
}

static bool read_flag(const struct reading *r, const char *name, bool *flag)
{
    const struct json_node node = member(r, name);

    *flag = false;
    return !json_exists(node) || json_bool(&r->doc, node, flag) || unreadable(r->err, name);
}

static bool read_node(const struct reading *r, struct json_node node, const char *name,
                      struct str *text)
{
    struct error ignored;

    if (json_type(&r->doc, node) != JSON_STRING ||
        !json_string(&r->doc, node, r->arena, text, &ignored))
        return unreadable(r->err, name);
    return true;
}

static bool read_text(const struct reading *r, const char *name, struct str *text)
{
    *text = (struct str){ NULL, 0 };
    return !json_exists(member(r, name)) || read_node(r, member(r, name), name, text);
}

static bool read_token(const struct reading *r, struct str *token)
{
    struct str encoded;
    char *bytes;
    size_t len;

    if (!read_text(r, "token", token) || !read_text(r, "tokenBase64", &encoded))
        return false;
    if (encoded.data == NULL)
        return true;
    bytes = arena_alloc(r->arena, encoded.len + 1);
    if (bytes == NULL)
        return arena_error(r->arena, r->err);
    if (!base64_decode(encoded, bytes, encoded.len, &len))
        return unreadable(r->err, "tokenBase64");
    *token = (struct str){ bytes, len };
    return true;
}

static bool read_window(const struct reading *r, struct window *window)
{
    bool has_from, has_to;

    if (!read_number(r, "from", &window->from_us, &has_from) ||
        !read_number(r, "to", &window->to_us, &has_to))
        return false;
    if (!has_from && !has_to)
        return true;
    return (has_from && has_to && window_is_valid(*window)) || unreadable(r->err, "window");
}

static bool read_ids(const struct reading *r, struct request_kept *kept)
{
    struct {
        struct str *items;
        size_t count;
    } ids = { 0 };

    for (struct json_iter it = json_each(&r->doc, member(r, "ids")); json_next(&it);) {
        struct str *id = LIST_ADD(r->arena, &ids);

        if (id == NULL)
            return arena_error(r->arena, r->err);
        if (!read_node(r, it.value, "ids", id))
            return false;
    }
    kept->ids = ids.items;
    kept->id_count = ids.count;
    return true;
}

static bool read_history(const struct reading *r, struct request_kept *kept)
{
    struct {
        struct listing_value *items;
        size_t count;
    } values = { 0 };
    struct error ignored;

    for (struct json_iter it = json_each(&r->doc, member(r, "history")); json_next(&it);) {
        struct listing_value *value = LIST_ADD(r->arena, &values);

        if (value == NULL)
            return arena_error(r->arena, r->err);
        if (json_type(&r->doc, member(r, "history")) != JSON_OBJECT ||
            !json_string(&r->doc, it.name, r->arena, &value->name, &ignored))
            return unreadable(r->err, "history");
        if (!read_node(r, it.value, "history", &value->value))
            return false;
    }
    kept->history = values.items;
    kept->history_count = values.count;
    return true;
}

bool request_kept_read(struct request_kept *kept, struct arena *arena, struct str json,
                       struct error *err)
{
    struct reading r = { .arena = arena, .err = err };
    struct error cause;

    *kept = (struct request_kept){ 0 };
    if (!json_parse(&r.doc, arena, json, &cause))
        return unreadable(err, cause.text);
    return read_text(&r, "endpoint", &kept->endpoint) &&
           (kept->endpoint.len > 0 || unreadable(err, "endpoint")) &&
           read_flag(&r, "idsOnly", &kept->ids_only) &&
           read_flag(&r, "childPage", &kept->is_child_page) &&
           read_flag(&r, "stream", &kept->is_stream) && read_count(&r, "number", &kept->number) &&
           read_count(&r, "page", &kept->page_no) && read_count(&r, "offset", &kept->offset) &&
           read_count(&r, "size", &kept->size) && read_token(&r, &kept->token) &&
           read_window(&r, &kept->window) &&
           read_number(&r, "since", &kept->since_us, &kept->has_since) &&
           read_text(&r, "after", &kept->after) && read_ids(&r, kept) && read_history(&r, kept);
}
