/* source_template: settings that many sources share, under a name, so that a file of a few lines is
 * a whole source.
 *
 *      source: zenodo
 *      template: oai-pmh                               src/spec/templates/oai-pmh.yaml
 *      http: { base_url: https://zenodo.org/oai2d }
 *
 * The file is laid over the template's tree before anything is checked: maps are joined key by key,
 * and any other value of the file replaces the template's, a list as a whole. Each value keeps that
 * it came from the template (node.is_template, registry_value.is_template), also in the Registry:
 * values are stored there as they were when the source was applied, so another version of this
 * program changes no source that is in force. Export leaves them out, diff and show name them.
 */
#ifndef PATRA_SPEC_SOURCE_TEMPLATE_H
#define PATRA_SPEC_SOURCE_TEMPLATE_H

#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"
#include "spec/fault.h"
#include "spec/node.h"

struct source_template {
    const char *name;
    struct str text;
};

/* Made from src/spec/templates by scripts/embed_templates.py. */
extern const struct source_template SOURCE_TEMPLATES[];
extern const size_t SOURCE_TEMPLATE_COUNT;

/* The tree with the template that it names beneath it; the tree itself where it names none. NULL,
 * and a fault, when there is no such template. */
const struct node *source_template_apply(struct arena *arena, const struct node *root,
                                         struct fault_list *faults);

#endif
