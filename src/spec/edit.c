/* Changes to the tree of a source file, as given by --set. */
#include "spec/edit.h"

#include "base/known_names.h"

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

/* ---- names that the file does not have ---- */

/* Maps from names that the author of the file chose. A mistyped name would add a member that
 * nothing uses, and change nothing. */
static const struct {
    struct str map;
    const char *what;
} NAMED[] = {
    { STR_INIT("params"), "parameter" },
    { STR_INIT("credentials"), "credential" },
    { STR_INIT("endpoints"), "endpoint" },
    { STR_INIT("operations"), "operation" },
};

static const struct node *member_of(const struct node *map, struct str key)
{
    const size_t at = map->kind == NODE_MAP ? index_of(map, key) : 0;

    return map->kind == NODE_MAP && at < map->count ? map->entries[at].value : NULL;
}

static bool is_of_name(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Whether a text of the tree has "params.NAME". */
static bool uses_param(const struct node *node, struct str use)
{
    struct str rest = node->text;

    while (node->kind == NODE_SCALAR && rest.len > 0) {
        const size_t at = str_find(rest, use);

        if (at == rest.len)
            break;
        rest = str_slice(rest, at + use.len, rest.len);
        if (rest.len == 0 || !is_of_name(rest.data[0]))
            return true;
    }
    for (size_t i = 0; i < node->count; i++) {
        if (uses_param(node->entries[i].value, use))
            return true;
    }
    return false;
}

static void report_unknown(const struct edit *edit, const struct node *map, size_t kind,
                           struct str name, struct fault_list *faults)
{
    struct known_names known = { .count = 0 };
    char all[KNOWN_NAMES_TEXT_MAX];
    const char *near;

    for (size_t i = 0; map != NULL && map->kind == NODE_MAP && i < map->count; i++)
        known_names_add(&known, map->entries[i].key);
    near = known_names_near(&known, name);
    fault_error(faults, "edit.unknown", nowhere, "--set %.*s: the file has no %s '%.*s'",
                STR_ARG(edit->path), NAMED[kind].what, STR_ARG(name));
    fault_hint(faults, "%s%s%sits %ss: %s", near != NULL ? "did you mean " : "",
               near != NULL ? near : "", near != NULL ? "? " : "", NAMED[kind].what,
               known_names_text(&known, all));
}

/* A new member is meant when it is written as a whole, { ... }, or when a template uses it. */
static bool is_meant(const struct edit *edit, const struct node *edited, size_t kind,
                     struct str member)
{
    if (kind == 0)
        return uses_param(edited, member);
    return edit->value.len > 0 && edit->value.data[0] == '{' && edit->path.len == member.len;
}

struct edited {
    const struct node *before;
    const struct node *after;
};

static bool check_names(struct edited file, const struct edit *edit, struct fault_list *faults)
{
    struct str path = edit->path;
    const struct str first = str_cut(&path, '.');
    const struct str name = str_cut(&path, '.');
    const struct node *map = member_of(file.before, first);
    const struct str member = str_slice(edit->path, 0, first.len + 1 + name.len);

    for (size_t i = 0; name.len > 0 && i < ARRAY_LEN(NAMED); i++) {
        if (!str_eq(first, NAMED[i].map) || (map != NULL && member_of(map, name) != NULL) ||
            is_meant(edit, file.after, i, member))
            continue;
        report_unknown(edit, map, i, name, faults);
        return false;
    }
    return true;
}

const struct node *edit_apply(struct arena *arena, const struct node *root, struct edit_list edits,
                              struct fault_list *faults)
{
    const struct node *edited = root;

    for (size_t i = 0; edited != NULL && i < edits.count; i++)
        edited = set(arena, edited, edits.items[i].path, &edits.items[i], faults);
    for (size_t i = 0; edited != NULL && i < edits.count; i++) {
        if (!check_names((struct edited){ root, edited }, &edits.items[i], faults))
            return NULL;
    }
    return edited;
}
