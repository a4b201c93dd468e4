/* Judges stored bytes again. */
#include "engine/fetch/reread.h"

static bool judge(struct reread *reread, struct document_node node, struct error *err)
{
    return record_judge(&reread->origin, node, 0, &reread->record, err);
}

/* Bytes that are not a document are a bad record, not a failure of ours. */
static bool open_document(struct reread *reread, struct str body, bool *is_open, struct error *err)
{
    const struct reader *reader = reread->origin.reader;
    struct arena *arena = reread->origin.arena;

    *is_open = document_open(&reread->document, arena,
                             &(struct document_source){ .format = reader->endpoint->response.format,
                                                        .xml = reader->xml,
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

/* The element, below its document. */
static bool find_element(const struct reread *reread, struct document_node *node, struct error *err)
{
    const struct xml *xml = reread->origin.reader->xml;
    struct xml_node_list found = { 0 };
    struct xml_path *path;
    bool ok;

    if (!xml_path_compile(xml, STR("/*"), NULL, 0, &path, err))
        return false;
    ok = xml_nodes(xml, path, reread->origin.arena, xml_root(xml, reread->document.tree), &found,
                   err);
    if (ok && found.count > 0)
        node->xml = found.nodes[0];
    xml_path_close(xml, path);
    return ok;
}

static bool read_xml(struct reread *reread, struct str payload, struct error *err)
{
    struct document_node node = { 0 };
    bool is_open;

    return open_document(reread, payload, &is_open, err) &&
           (!is_open || (find_element(reread, &node, err) && judge(reread, node, err)));
}

bool reread_open(struct reread *reread, struct arena *arena, const struct reread_from *from,
                 struct error *err)
{
    const struct spec_endpoint *endpoint = from->endpoint;

    *reread = (struct reread){ 0 };
    reread->origin =
        (struct record_origin){ .reader = from->reader != NULL ? from->reader : &reread->reader,
                                .document = &reread->document,
                                .arena = arena,
                                .now_us = from->observed_us };
    if (from->reader == NULL && !reader_open(&reread->reader, arena, endpoint, NULL, err))
        return false;
    if (endpoint->response.format == RESPONSE_XML ? read_xml(reread, from->payload, err)
                                                  : read_json(reread, from->payload, err))
        return true;
    reread_close(reread);
    return false;
}

void reread_close(struct reread *reread)
{
    document_close(&reread->document);
    reader_close(&reread->reader);
}
