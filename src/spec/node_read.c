/* From libyaml's events to nodes, with a stack of the collections that are still open:
 *
 *      { a: [1, 2], b: 3 }      map    key a    list  1  2  end    key b  3    end
 *      stack depth              1               2          1                    0
 *
 * A collection is attached to its parent when it starts, so a truncated file leaves a valid tree.
 * A value that a fault drops (that of a duplicate key, for example) is read but not attached.
 */
#include <assert.h>
#include <string.h>
#include <yaml.h>

#include "spec/node.h"

struct frame {
    struct node *node;
    size_t capacity;
    struct str key; /* of a map, while has_key: the next node is its value */
    struct mark key_at;
    bool has_key;
    bool drops_value;
};

struct reader {
    struct arena *arena;
    struct fault_list *faults;
    struct str text;
    struct node *root;
    size_t nodes;
    size_t documents;
    struct frame stack[SOURCE_DEPTH_MAX];
    size_t depth;
};

static struct mark mark_of(yaml_mark_t mark)
{
    return (struct mark){ (uint32_t)mark.line + 1, (uint32_t)mark.column + 1 };
}

static bool no_memory(struct reader *reader)
{
    reader->faults->failed = true;
    return false;
}

static bool add_entry(struct reader *reader, struct frame *frame, struct node_entry entry)
{
    struct node *node = frame->node;

    if (node->count == frame->capacity) {
        const size_t capacity = frame->capacity > 0 ? 2 * frame->capacity : 4;

        node->entries =
            arena_grow(reader->arena, node->entries, frame->capacity * sizeof(struct node_entry),
                       capacity * sizeof(struct node_entry));
        if (node->entries == NULL) {
            node->count = 0;
            return no_memory(reader);
        }
        frame->capacity = capacity;
    }
    node->entries[node->count++] = entry;
    return true;
}

static void take_key(struct reader *reader, struct frame *frame, const struct node *node)
{
    const struct node_entry *twin = NULL;

    frame->has_key = true;
    frame->key = node->text;
    frame->key_at = node->at;
    frame->drops_value = node->kind != NODE_SCALAR || node->is_broken;
    if (node->kind != NODE_SCALAR) {
        fault_error(reader->faults, "yaml.key", node->at, "a key must be a text");
        fault_hint(reader->faults, "quote a key that starts with [ or {");
        return;
    }
    for (size_t i = 0; i < frame->node->count; i++) {
        if (str_eq(frame->node->entries[i].key, node->text))
            twin = &frame->node->entries[i];
    }
    if (twin == NULL)
        return;
    frame->drops_value = true;
    fault_error(reader->faults, "yaml.duplicate-key", node->at, "duplicate key '%.*s'",
                STR_ARG(node->text));
    fault_hint(reader->faults, "the first is at %u:%u; remove one of them", twin->at.line,
               twin->at.column);
}

/* Attaches the node to the open collection. */
static bool attach(struct reader *reader, struct node *node)
{
    struct frame *frame;

    if (reader->depth == 0) {
        if (reader->root == NULL)
            reader->root = node;
        return true;
    }
    frame = &reader->stack[reader->depth - 1];
    assert(frame->node != NULL);
    if (frame->node->kind == NODE_LIST)
        return add_entry(reader, frame, (struct node_entry){ { 0 }, node->at, node });
    if (!frame->has_key) {
        take_key(reader, frame, node);
        return true;
    }
    frame->has_key = false;
    if (frame->drops_value)
        return true;
    return add_entry(reader, frame, (struct node_entry){ frame->key, frame->key_at, node });
}

static struct node *new_node(struct reader *reader, enum node_kind kind, yaml_mark_t at)
{
    struct node *node;

    if (++reader->nodes > SOURCE_NODES_MAX) {
        fault_error(reader->faults, "yaml.limit", mark_of(at), "the file has more than %d values",
                    SOURCE_NODES_MAX);
        return NULL;
    }
    node = ARENA_NEW(reader->arena, struct node);
    if (node == NULL) {
        reader->faults->failed = true;
        return NULL;
    }
    node->kind = kind;
    node->at = mark_of(at);
    return node;
}

static void refuse_decoration(struct reader *reader, struct node *node, const yaml_char_t *anchor,
                              const yaml_char_t *tag)
{
    if (anchor == NULL && tag == NULL)
        return;
    node->is_broken = true;
    if (anchor != NULL) {
        fault_error(reader->faults, "yaml.anchor", node->at, "anchors (&%s) are not supported",
                    (const char *)anchor);
        fault_hint(reader->faults, "write what endpoints share once, at the top of the file");
    } else {
        fault_error(reader->faults, "yaml.tag", node->at, "tags (%s) are not supported",
                    (const char *)tag);
        fault_hint(reader->faults, "remove it; each setting has its type");
    }
}

static bool on_scalar(struct reader *reader, const yaml_event_t *event)
{
    static const enum node_style styles[] = {
        [YAML_ANY_SCALAR_STYLE] = NODE_PLAIN,
        [YAML_PLAIN_SCALAR_STYLE] = NODE_PLAIN,
        [YAML_SINGLE_QUOTED_SCALAR_STYLE] = NODE_SINGLE_QUOTED,
        [YAML_DOUBLE_QUOTED_SCALAR_STYLE] = NODE_DOUBLE_QUOTED,
        [YAML_LITERAL_SCALAR_STYLE] = NODE_BLOCK,
        [YAML_FOLDED_SCALAR_STYLE] = NODE_BLOCK,
    };
    const struct str value = { (const char *)event->data.scalar.value, event->data.scalar.length };
    struct node *node = new_node(reader, NODE_SCALAR, event->start_mark);

    if (node == NULL)
        return false;
    node->style = styles[event->data.scalar.style];
    node->text = arena_copy(reader->arena, value);
    if (node->text.data == NULL)
        return no_memory(reader);
    refuse_decoration(reader, node, event->data.scalar.anchor, event->data.scalar.tag);
    return attach(reader, node);
}

static bool on_alias(struct reader *reader, const yaml_event_t *event)
{
    struct node *node = new_node(reader, NODE_SCALAR, event->start_mark);

    if (node == NULL)
        return false;
    node->is_broken = true;
    fault_error(reader->faults, "yaml.alias", node->at, "aliases (*%s) are not supported",
                (const char *)event->data.alias.anchor);
    fault_hint(reader->faults, "quote a text that starts with *");
    return attach(reader, node);
}

static bool on_start(struct reader *reader, const yaml_event_t *event)
{
    const bool is_map = event->type == YAML_MAPPING_START_EVENT;
    struct node *node = new_node(reader, is_map ? NODE_MAP : NODE_LIST, event->start_mark);

    if (node == NULL)
        return false;
    if (reader->depth == SOURCE_DEPTH_MAX) {
        fault_error(reader->faults, "yaml.limit", node->at,
                    "the file is nested deeper than %d levels", SOURCE_DEPTH_MAX);
        return false;
    }
    if (is_map)
        refuse_decoration(reader, node, event->data.mapping_start.anchor,
                          event->data.mapping_start.tag);
    else
        refuse_decoration(reader, node, event->data.sequence_start.anchor,
                          event->data.sequence_start.tag);
    if (!attach(reader, node))
        return false;
    reader->stack[reader->depth++] = (struct frame){ .node = node };
    return true;
}

/* False: stop reading. */
static bool on_event(struct reader *reader, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return on_scalar(reader, event);
    case YAML_ALIAS_EVENT:
        return on_alias(reader, event);
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        return on_start(reader, event);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        reader->depth--;
        return true;
    case YAML_DOCUMENT_START_EVENT:
        if (++reader->documents == 1)
            return true;
        fault_error(reader->faults, "yaml.documents", mark_of(event->start_mark),
                    "a second document starts here");
        fault_hint(reader->faults, "one file describes one source; remove the line ---");
        return false;
    case YAML_STREAM_END_EVENT:
        return false;
    default:
        return true;
    }
}

/* The byte at a mark, for hints. */
static char byte_at(struct str text, yaml_mark_t mark)
{
    struct str line = { 0 };

    for (size_t i = 0; i <= mark.line; i++)
        line = str_cut(&text, '\n');
    return mark.column < line.len ? line.data[mark.column] : '\0';
}

static const char *hint_for(const struct reader *reader, const yaml_parser_t *parser)
{
    static const struct {
        const char *problem;
        const char *hint;
    } hints[] = {
        { "mapping values are not allowed", "quote a value that contains ': '" },
        { "did not find expected key", "check the indentation of this line and the line before" },
        { "did not find expected '-'", "check the indentation of this line and the line before" },
        { "could not find expected ':'", "each line of a map reads 'key: value'" },
        { "found unexpected end of stream", "a quote is not closed" },
        { "did not find expected ',' or", "a bracket is not closed" },
        { "found unknown escape character", "use single quotes, or write \\\\ for a backslash" },
    };
    const char first = byte_at(reader->text, parser->problem_mark);

    if (first == '\t')
        return "indent with spaces, not with tabs";
    if (strchr("@`%", first) != NULL && first != '\0')
        return "quote a value that starts with this character";
    for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++) {
        if (parser->problem != NULL && strstr(parser->problem, hints[i].problem) != NULL)
            return hints[i].hint;
    }
    return "check indentation, quotes and brackets here and just above";
}

static void report_syntax(struct reader *reader, const yaml_parser_t *parser)
{
    struct mark at = mark_of(parser->problem_mark);

    if (parser->error == YAML_MEMORY_ERROR) {
        reader->faults->failed = true;
        return;
    }
    if (parser->error == YAML_READER_ERROR)
        at = (struct mark){ 1, 1 };
    fault_error(reader->faults, "yaml.syntax", at, "not YAML: %s%s%s",
                parser->problem != NULL ? parser->problem : "unreadable",
                parser->context != NULL ? ", " : "",
                parser->context != NULL ? parser->context : "");
    fault_hint(reader->faults, "%s", hint_for(reader, parser));
}

static bool read_events(struct reader *reader)
{
    yaml_parser_t parser;
    yaml_event_t event;
    bool is_open = true, is_yaml = true;

    if (!yaml_parser_initialize(&parser))
        return no_memory(reader);
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    /* The library requires an address even for an empty text. */
    yaml_parser_set_input_string(
        &parser, (const unsigned char *)(reader->text.len > 0 ? reader->text.data : ""),
        reader->text.len);
    while (is_open && is_yaml) {
        is_yaml = yaml_parser_parse(&parser, &event) != 0;
        if (!is_yaml) {
            report_syntax(reader, &parser);
            break;
        }
        is_open = on_event(reader, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return is_yaml;
}

static bool is_readable(struct str text, struct fault_list *faults)
{
    const struct mark start = { 1, 1 };

    if (text.len > SOURCE_BYTES_MAX) {
        fault_error(faults, "yaml.limit", start, "the file is larger than %d bytes",
                    SOURCE_BYTES_MAX);
        return false;
    }
    if (str_is_utf8(text))
        return true;
    fault_error(faults, "yaml.encoding", start, "the file is not UTF-8");
    fault_hint(faults, "save it as UTF-8");
    return false;
}

const struct node *node_read(struct arena *arena, struct str text, struct fault_list *faults)
{
    struct reader reader = { .arena = arena, .faults = faults };
    const size_t errors = faults->errors;
    bool is_whole;

    if (!is_readable(text, faults))
        return NULL;
    reader.text = str_starts(text, STR("\xEF\xBB\xBF")) ? str_slice(text, 3, text.len) : text;
    is_whole = read_events(&reader) && reader.depth == 0 && !faults->failed;
    if (is_whole && reader.root == NULL && faults->errors == errors) {
        fault_error(faults, "yaml.empty", (struct mark){ 1, 1 }, "the file is empty");
        fault_hint(faults, "start it with the source's code: 'source: crossref'");
    }
    return is_whole ? reader.root : NULL;
}
