/* Changes to the tree of a source file, as given by --set. */
#include "spec/edit.h"

static const struct mark nowhere = { 0, 0 };

static void *no_memory(struct fault_list *faults)
{
    faults->failed = true;
    return NULL;
}

/* An edit has no line in the file. */
static void forget_places(struct node *node)
{
    node->at = nowhere;
    for (size_t i = 0; i < node->count; i++) {
        node->entries[i].at = nowhere;
        forget_places(node->entries[i].value);
    }
}

static struct node *value_node(struct arena *arena, const struct edit *edit,
                               struct fault_list *faults)
{
    const char first = edit->value.data[0];
    struct node *node;

    if (first == '"' || first == '\'' || first == '[' || first == '{') {
        const size_t errors = faults->errors;
        const struct node *read = node_read(arena, edit->value, faults);

        if (read == NULL || faults->errors > errors) {
            fault_error(faults, "edit.value", nowhere, "the value of --set %.*s cannot be read",
                        STR_ARG(edit->path));
            return NULL;
        }
        node = (struct node *)read; /* made above, so not shared */
        forget_places(node);
        return node;
    }
    node = ARENA_NEW(arena, struct node);
    if (node == NULL)
        return no_memory(faults);
    *node = (struct node){ .kind = NODE_SCALAR, .style = NODE_PLAIN, .text = edit->value };
    return node;
}

static size_t index_of(const struct node *map, struct str key)
{
    size_t i = 0;

    while (i < map->count && !str_eq(map->entries[i].key, key))
        i++;
    return i;
}

/* A copy of the map with room for one entry more. */
static struct node *copy_map(struct arena *arena, const struct node *map, struct fault_list *faults)
{
    struct node *copy = ARENA_NEW(arena, struct node);
    struct node_entry *entries = ARENA_ARRAY(arena, struct node_entry, map->count + 1);

    if (copy == NULL || entries == NULL)
        return no_memory(faults);
    *copy = *map;
    for (size_t i = 0; i < map->count; i++)
        entries[i] = map->entries[i];
    copy->entries = entries;
    return copy;
}

static void remove_entry(struct node *map, size_t at)
{
    if (at == map->count)
        return;
    for (size_t i = at; i + 1 < map->count; i++)
        map->entries[i] = map->entries[i + 1];
    map->count--;
}

/* One level per part of the path, and a path has no more parts than bytes of the command line. */
static struct node *set(struct arena *arena, const struct node *map, struct str path,
                        const struct edit *edit, struct fault_list *faults)
{
    static const struct node nothing = { .kind = NODE_MAP };
    const struct str key = str_cut(&path, '.');
    struct node *copy, *value;
    size_t at;

    if (map->kind != NODE_MAP || key.len == 0) {
        fault_error(faults, "edit.path", nowhere, "--set %.*s is not a path of the file",
                    STR_ARG(edit->path));
        fault_hint(faults, "write the keys from the top of the file, with dots: http.base_url, "
                           "endpoints.works.page.size");
        return NULL;
    }
    copy = copy_map(arena, map, faults);
    if (copy == NULL)
        return NULL;
    at = index_of(copy, key);
    if (path.len == 0 && edit->value.len == 0) {
        remove_entry(copy, at);
        return copy;
    }
    if (path.len == 0)
        value = value_node(arena, edit, faults);
    else
        value = set(arena, at < map->count ? map->entries[at].value : &nothing, path, edit, faults);
    if (value == NULL)
        return NULL;
    if (at == copy->count)
        copy->entries[copy->count++] = (struct node_entry){ .key = key, .at = nowhere };
    copy->entries[at].value = value;
    return copy;
}

const struct node *edit_apply(struct arena *arena, const struct node *root, struct edit_list edits,
                              struct fault_list *faults)
{
    for (size_t i = 0; root != NULL && i < edits.count; i++)
        root = set(arena, root, edits.items[i].path, &edits.items[i], faults);
    return root;
}
