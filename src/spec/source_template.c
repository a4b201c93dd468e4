/* Lays the tree of a file over that of its template. */
#include "spec/source_template.h"

#include "base/known_names.h"

static const struct source_template *find(struct str name)
{
    for (size_t i = 0; i < SOURCE_TEMPLATE_COUNT; i++) {
        if (str_eq(str_of(SOURCE_TEMPLATES[i].name), name))
            return &SOURCE_TEMPLATES[i];
    }
    return NULL;
}

static const struct node *report_unknown(const struct node *named, struct fault_list *faults)
{
    struct known_names known = { .count = 0 };
    char all[KNOWN_NAMES_TEXT_MAX];

    for (size_t i = 0; i < SOURCE_TEMPLATE_COUNT; i++)
        known_names_add(&known, str_of(SOURCE_TEMPLATES[i].name));
    fault_error(faults, "spec.template", named->at, "template is not the name of a template");
    fault_hint(faults, "there are: %s", known_names_text(&known, all));
    return NULL;
}

/* What is wrong with a value of the template is reported at the place that names the template. */
static void mark_all(struct node *node, struct mark at)
{
    node->is_template = true;
    node->at = at;
    for (size_t i = 0; i < node->count; i++) {
        node->entries[i].at = at;
        mark_all(node->entries[i].value, at);
    }
}

static struct node_entry *entry_of(struct node *map, struct str key)
{
    for (size_t i = 0; i < map->count; i++) {
        if (str_eq(map->entries[i].key, key))
            return &map->entries[i];
    }
    return NULL;
}

/* The template's node with the file's laid over it; trees are as deep as node_read() allows. The
 * template's keys come first, in their order. */
static struct node *lay_over(struct arena *arena, struct node *below, struct node *above,
                             struct fault_list *faults)
{
    struct node_entry *entries;
    struct node *both;

    if (below->kind != NODE_MAP || above->kind != NODE_MAP || above->is_broken)
        return above;
    both = ARENA_NEW(arena, struct node);
    entries = ARENA_ARRAY(arena, struct node_entry, below->count + above->count);
    if (both == NULL || entries == NULL) {
        faults->failed = true;
        return above;
    }
    *both = *above;
    both->entries = entries;
    both->count = below->count;
    for (size_t i = 0; i < below->count; i++)
        entries[i] = below->entries[i];
    for (size_t i = 0; i < above->count; i++) {
        struct node_entry *old = entry_of(both, above->entries[i].key);

        if (old == NULL) {
            entries[both->count++] = above->entries[i];
            continue;
        }
        old->at = above->entries[i].at;
        old->value = lay_over(arena, old->value, above->entries[i].value, faults);
    }
    return both;
}

const struct node *source_template_apply(struct arena *arena, const struct node *root,
                                         struct fault_list *faults)
{
    const struct node *named = node_get(root, STR("template"));
    const struct source_template *template;
    const struct node *below;

    if (named == NULL || named->is_broken)
        return root;
    template = named->kind == NODE_SCALAR ? find(named->text) : NULL;
    if (template == NULL)
        return report_unknown(named, faults);
    below = node_read(arena, template->text, faults);
    if (below == NULL)
        return NULL;
    /* Both trees were made for this file and are shared with nobody. */
    mark_all((struct node *)below, named->at);
    return lay_over(arena, (struct node *)below, (struct node *)root, faults);
}
