/* Judges stored bytes again; of XML, in the namespaces that they may have come from. */
#include "engine/fetch/reread.h"

/* What is put around an element: declarations of namespaces. */
#define FRAME_BYTES_MAX ((size_t)64 << 10)

static bool judge(struct reread *reread, struct document_node node, struct error *err)
{
    return record_judge(&reread->origin, node, 0, &reread->record, err);
}

/* Bytes that are not a document are a bad record, not a failure of ours. */
static bool open_document(struct reread *reread, struct str body, bool *is_open, struct error *err)
{
    struct arena *arena = reread->origin.arena;

    *is_open =
        document_open(&reread->document, arena,
                      &(struct document_source){ .format = reread->reader.endpoint->response.format,
                                                 .xml = reread->reader.xml,
                                                 .body = body },
                      err);
    if (*is_open)
        return true;
    if (err->level != ERROR_REQUEST)
        return false;
    reread->record =
        (struct record){ .reason = "item.syntax", .detail = arena_copy(arena, str_of(err->text)) };
    return reread->record.detail.data != NULL || arena_error(arena, err);
}

static bool read_json(struct reread *reread, struct str payload, struct error *err)
{
    bool is_open;

    return open_document(reread, payload, &is_open, err) &&
           (!is_open || judge(reread, document_root(&reread->document), err));
}

/* ---- XML ---- */

static bool is_plain(struct str uri)
{
    return str_find_char(uri, '"') == uri.len && str_find_char(uri, '<') == uri.len &&
           str_find_char(uri, '&') == uri.len;
}

static struct str frame(const struct reread *reread, struct str payload, struct str default_uri)
{
    const struct spec_response *response = &reread->reader.endpoint->response;
    struct buf out;

    buf_init(&out, reread->origin.arena, payload.len + FRAME_BYTES_MAX);
    buf_printf(&out, "<frame xmlns=\"%.*s\"", STR_ARG(default_uri));
    for (size_t i = 0; i < response->namespace_count; i++) {
        if (is_plain(response->namespaces[i].uri))
            buf_printf(&out, " xmlns:%.*s=\"%.*s\"", STR_ARG(response->namespaces[i].prefix),
                       STR_ARG(response->namespaces[i].uri));
    }
    buf_add_char(&out, '>');
    buf_add(&out, payload);
    buf_add(&out, STR("</frame>"));
    return buf_str(&out);
}

/* The element in the frame. */
static bool find_element(const struct reread *reread, struct document_node *node, struct error *err)
{
    const struct xml *xml = reread->reader.xml;
    struct xml_node_list found = { 0 };
    struct xml_path *path;
    bool ok;

    if (!xml_path_compile(xml, STR("/*/*"), NULL, 0, &path, err))
        return false;
    ok = xml_nodes(xml, path, reread->origin.arena, xml_root(xml, reread->document.tree), &found,
                   err);
    if (ok && found.count > 0)
        node->xml = found.nodes[0];
    else
        *node = document_root(&reread->document);
    xml_path_close(xml, path);
    return ok;
}

static bool read_xml_in(struct reread *reread, struct str payload, struct str default_uri,
                        struct error *err)
{
    const struct str framed = frame(reread, payload, default_uri);
    struct document_node node = { 0 };
    bool is_open;

    if (framed.data == NULL)
        return arena_error(reread->origin.arena, err);
    return open_document(reread, framed, &is_open, err) &&
           (!is_open || (find_element(reread, &node, err) && judge(reread, node, err)));
}

static bool read_xml(struct reread *reread, struct str payload, struct error *err)
{
    const struct spec_response *response = &reread->reader.endpoint->response;
    struct record best;

    if (!read_xml_in(reread, payload, STR(""), err))
        return false;
    best = reread->record;
    for (size_t i = 0; i < response->namespace_count && !record_is_good(&reread->record); i++) {
        if (!is_plain(response->namespaces[i].uri))
            continue;
        document_close(&reread->document);
        if (!read_xml_in(reread, payload, response->namespaces[i].uri, err))
            return false;
        /* A bad record with an id says more than one without. */
        if (reread->record.provider_id.len > 0)
            best = reread->record;
    }
    if (!record_is_good(&reread->record))
        reread->record = best;
    return true;
}

bool reread_open(struct reread *reread, struct arena *arena, const struct spec_endpoint *endpoint,
                 struct str payload, struct error *err)
{
    *reread = (struct reread){ 0 };
    reread->origin = (struct record_origin){ .reader = &reread->reader,
                                             .document = &reread->document,
                                             .arena = arena };
    if (!reader_open(&reread->reader, arena, endpoint, NULL, err))
        return false;
    if (endpoint->response.format == RESPONSE_XML ? read_xml(reread, payload, err)
                                                  : read_json(reread, payload, err))
        return true;
    reread_close(reread);
    return false;
}

void reread_close(struct reread *reread)
{
    document_close(&reread->document);
    reader_close(&reread->reader);
}
