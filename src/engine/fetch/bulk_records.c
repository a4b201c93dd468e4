/* The lines of a batch as records. Lines that are not JSON are found one by one. */
#include "engine/fetch/bulk_parts.h"

#include "base/list.h"
#include "base/mask.h"
#include "base/quote.h"
#include "engine/fetch/document_outline.h"

/* The root is that of a list. */
static bool check_root(struct fetch *fetch, const struct response *response, struct error *err)
{
    return response->items.is_there ||
           error_set(err, ERROR_TRANSIENT, "answer.file",
                     "%.*s finds nothing in the file, nor the place for it; see "
                     "response.namespaces if it has a namespace: %.*s",
                     STR_ARG(fetch->list->endpoint->response.items.text),
                     STR_ARG(document_outline(&response->document, walk_arena(fetch))));
}

static bool open_document(struct fetch *fetch, struct response *response, struct str body,
                          struct error *err)
{
    const struct reader *reader = &fetch->list->reader;

    *response = (struct response){ .kind = RESPONSE_PAGE };
    if (!document_open(
            &response->document, walk_arena(fetch),
            &(struct document_source){ .format = RESPONSE_XML, .xml = reader->xml, .body = body },
            err)) {
        err->level = ERROR_TRANSIENT;
        err->code = "answer.file";
        return false;
    }
    response->is_open = true;
    return document_items(
               &response->document,
               &(struct document_list){ .items = &reader->items, .container = &reader->container },
               walk_arena(fetch), &response->items, err) &&
           check_root(fetch, response, err);
}

static bool open_body(struct fetch *fetch, struct response *response, struct str body,
                      struct error *err)
{
    const struct json_doc *json = &response->document.json;
    struct document_items *items = &response->items;
    struct json_iter it;

    *response = (struct response){ .kind = RESPONSE_PAGE };
    if (!document_open(&response->document, walk_arena(fetch),
                       &(struct document_source){ .format = RESPONSE_JSON, .body = body }, err))
        return false;
    response->is_open = true;
    items->is_there = true;
    items->items =
        ARENA_ARRAY(walk_arena(fetch), struct document_node, json_count(json, json_root(json)));
    if (items->items == NULL)
        return arena_error(walk_arena(fetch), err);
    for (it = json_each(json, json_root(json)); json_next(&it);)
        items->items[items->count++].json = it.value;
    return true;
}

/* "1,2" is two elements and no JSON. */
static bool is_of_lines(const struct response *response, const struct bulk_lines *lines)
{
    const struct document_items *items = &response->items;

    if (items->count != lines->texts.count)
        return false;
    for (size_t i = 0; i < items->count; i++) {
        const struct str raw = json_raw(&response->document.json, items->items[i].json);
        const struct str text = str_trim(lines->texts.items[i]);

        if (raw.data != text.data || raw.len != text.len)
            return false;
    }
    return true;
}

static bool is_json(struct fetch *fetch, struct str text, struct error *why)
{
    struct json_doc doc;
    const bool is_good = json_parse(&doc, &fetch->memory.scratch, text, why);

    arena_reset(&fetch->memory.scratch);
    return is_good;
}

static bool add_bad(struct fetch *fetch, struct listing *bad, size_t position, struct str text,
                    const struct error *why)
{
    struct record *record = LIST_ADD(walk_arena(fetch), &bad->bad);

    if (record == NULL)
        return false;
    *record = (struct record){ .position = position,
                               .payload = text,
                               .reason = "item.syntax",
                               .detail = mask_personal_copy(walk_arena(fetch), str_of(why->text)) };
    return record->detail.data != NULL;
}

/* A body of the lines that are JSON; the others are bad records. */
static bool sort_out(struct fetch *fetch, const struct bulk_lines *lines, struct str *body,
                     struct listing *bad, struct error *err)
{
    struct error why = { 0 };
    struct buf out;

    buf_init(&out, walk_arena(fetch), (size_t)BATCH_BYTES_MAX);
    for (size_t i = 0; i < lines->texts.count; i++) {
        const struct str text = lines->texts.items[i];

        if (is_json(fetch, text, &why)) {
            buf_add_char(&out, out.len == 0 ? '[' : ',');
            buf_add(&out, text);
        } else if (i + 1 == lines->texts.count && lines->is_open)
            return error_set(err, ERROR_TRANSIENT, "answer.file",
                             "the file ends in the middle of a line: %s",
                             QUOTE(str_slice(text, 0, 80)));
        else if (!add_bad(fetch, bad, i, text, &why))
            return arena_error(walk_arena(fetch), err);
    }
    if (out.len == 0)
        return error_set(err, ERROR_TRANSIENT, "answer.file",
                         "none of %zu lines is JSON; the first is %s", lines->texts.count,
                         QUOTE(str_slice(lines->texts.items[0], 0, 80)));
    buf_add_char(&out, ']');
    *body = buf_str(&out);
    return buf_ok(&out, err);
}

/* Behind those that the listing itself found. */
static bool add_all_bad(struct fetch *fetch, struct listing *listing, const struct listing *bad,
                        struct error *err)
{
    for (size_t i = 0; i < bad->bad.count; i++) {
        struct record *record = LIST_ADD(walk_arena(fetch), &listing->bad);

        if (record == NULL)
            return arena_error(walk_arena(fetch), err);
        *record = bad->bad.items[i];
    }
    listing->items += bad->bad.count;
    return true;
}

bool bulk_records_read(struct fetch *fetch, const struct bulk_lines *lines,
                       struct exchange *exchange, struct error *err)
{
    const struct listing_input input = {
        .reader = &fetch->list->reader,
        .response = &exchange->response,
        .reply = &exchange->reply,
        .request_url = fetch->list->endpoint->http.base_url,
        .now_us = exchange->sent_us,
        .feed = CURSOR_TIME,
    };
    struct str body = buf_str(&lines->body);
    struct listing bad = { 0 };
    struct error ignored;

    if (fetch->bulk.lines.is_xml)
        return open_document(fetch, &exchange->response, body, err) &&
               listing_read(&exchange->listing, walk_arena(fetch), &input, err);
    if (!(open_body(fetch, &exchange->response, body, &ignored) &&
          is_of_lines(&exchange->response, lines)) &&
        (!sort_out(fetch, lines, &body, &bad, err) ||
         !open_body(fetch, &exchange->response, body, err)))
        return false;
    return listing_read(&exchange->listing, walk_arena(fetch), &input, err) &&
           add_all_bad(fetch, &exchange->listing, &bad, err);
}

bool bulk_records_check(struct fetch *fetch, const struct bulk_lines *lines,
                        const struct listing *listing, struct error *err)
{
    struct str first = STR("");

    if (fetch->bulk.place.records > 0 || listing->hash_count > 0)
        return true;
    if (lines->texts.count == 0)
        return fetch->bulk.lines.is_xml || error_set(err, ERROR_TRANSIENT, "answer.file",
                                                     "the file is empty: it has no records");
    if (!fetch->bulk.lines.is_xml)
        first = lines->texts.items[0];
    else
        first = str_slice(buf_str(&lines->body), 0, lines->body.len);
    return error_set(err, ERROR_TRANSIENT, "answer.file",
                     "none of the first %zu %s of the file is a record with an id at %.*s: %s",
                     lines->texts.count, fetch->bulk.lines.is_xml ? "elements" : "lines",
                     STR_ARG(fetch->list->endpoint->response.id[0].text),
                     QUOTE(str_slice(first, 0, 80)));
}
