#include "engine/fetch/reread.h"

/* What is put around an element: some declarations. */
#define FRAME_BYTES_MAX ((size_t)64 << 10)

static bool judge(struct reread *reread, struct arena *arena, struct document_node node,
                  struct error *err)
{
    const struct record_item item = { .reader = &reread->reader,
                                      .document = &reread->document,
                                      .node = node };

    return record_judge(&item, arena, &reread->judgement, &reread->record, &reread->bad, err);
}

/* Bytes that are no document are a bad record, and no failure of ours. */
static bool open_document(struct reread *reread, struct arena *arena, struct str body, bool *opened,
                          struct error *err)
{
    const struct spec_endpoint *endpoint = reread->reader.endpoint;

    *opened = document_open(&reread->document, arena,
                            &(struct document_source){ .format = endpoint->response.format,
                                                       .xml = reread->reader.xml,
                                                       .body = body },
                            err);
    if (*opened)
        return true;
    if (err->level != ERROR_REQUEST)
        return false;
    reread->judgement = RECORD_BAD;
    reread->bad = (struct bad_record){ .reason = "item.syntax",
                                       .detail = arena_copy(arena, str_of(err->text)) };
    return reread->bad.detail.data != NULL || arena_error(arena, err);
}

static bool read_json(struct reread *reread, struct arena *arena, struct str payload,
                      struct error *err)
{
    bool opened;

    return open_document(reread, arena, payload, &opened, err) &&
           (!opened || judge(reread, arena, document_root(&reread->document), err));
}

/* ---- XML ---- */

static bool is_plain(struct str uri)
{
    return str_find_char(uri, '"') == uri.len && str_find_char(uri, '<') == uri.len &&
           str_find_char(uri, '&') == uri.len;
}

static struct str frame(struct reread *reread, struct arena *arena, struct str payload,
                        struct str default_uri)
{
    const struct spec_response *response = &reread->reader.endpoint->response;
    struct buf out;

    buf_init(&out, arena, payload.len + FRAME_BYTES_MAX);
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
static bool find_element(const struct reread *reread, struct arena *arena,
                         struct document_node *node, struct error *err)
{
    const struct xml *xml = reread->reader.xml;
    struct xml_node_list found = { 0 };
    struct xml_path *path;
    bool ok;

    if (!xml_path_compile(xml, STR("/*/*"), NULL, 0, &path, err))
        return false;
    ok = xml_nodes(xml, path, arena, xml_root(xml, reread->document.tree), &found, err);
    if (ok && found.count > 0)
        node->xml = found.nodes[0];
    else
        *node = document_root(&reread->document);
    xml_path_close(xml, path);
    return ok;
}

static bool read_xml_in(struct reread *reread, struct arena *arena, struct str payload,
                        struct str default_uri, struct error *err)
{
    const struct str framed = frame(reread, arena, payload, default_uri);
    struct document_node node = { 0 };
    bool opened;

    if (framed.data == NULL)
        return arena_error(arena, err);
    return open_document(reread, arena, framed, &opened, err) &&
           (!opened ||
            (find_element(reread, arena, &node, err) && judge(reread, arena, node, err)));
}

static bool read_xml(struct reread *reread, struct arena *arena, struct str payload,
                     struct error *err)
{
    const struct spec_response *response = &reread->reader.endpoint->response;
    struct bad_record first;

    if (!read_xml_in(reread, arena, payload, STR(""), err))
        return false;
    first = reread->bad;
    for (size_t i = 0; i < response->namespace_count && reread->judgement == RECORD_BAD; i++) {
        if (!is_plain(response->namespaces[i].uri))
            continue;
        document_close(&reread->document);
        if (!read_xml_in(reread, arena, payload, response->namespaces[i].uri, err))
            return false;
        /* Where something of it can be read, that says more. */
        if (reread->judgement == RECORD_BAD && reread->bad.provider_id.len > 0)
            first = reread->bad;
    }
    reread->bad = first;
    return true;
}

bool reread_open(struct reread *reread, struct arena *arena, const struct spec_endpoint *endpoint,
                 struct str payload, struct error *err)
{
    *reread = (struct reread){ 0 };
    if (!reader_open(&reread->reader, arena, endpoint, NULL, err))
        return false;
    if (endpoint->response.format == RESPONSE_XML ? read_xml(reread, arena, payload, err)
                                                  : read_json(reread, arena, payload, err))
        return true;
    reread_close(reread);
    return false;
}

void reread_close(struct reread *reread)
{
    document_close(&reread->document);
    reader_close(&reread->reader);
}
