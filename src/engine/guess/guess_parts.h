/* guess_parts: what the files of this folder share. Each fills its part of the guess. */
#ifndef PATRA_ENGINE_GUESS_GUESS_PARTS_H
#define PATRA_ENGINE_GUESS_GUESS_PARTS_H

#include "engine/guess/guess_tree.h"

/* Splits the URL into base, path and parameters, and gives these their roles. */
bool guess_url(struct guess *guess, struct arena *arena, struct str url,
               struct error *err) MUST_CHECK;

/* The list of records; NULL: none was found. */
struct guess_node *guess_items(struct guess_tree *tree);

/* Points for the id and the date that an item of this list may have: a list whose elements have
 * both is likelier to be the one. */
int guess_fields_points(struct guess_tree *tree, const struct guess_node *list);

/* The id, the date and the sign of deletion of the items. */
void guess_fields(struct guess_tree *tree, const struct guess_node *items);

void guess_total(struct guess_tree *tree, const struct guess_node *items);

/* How the next page is requested. */
void guess_next(struct guess_tree *tree, const struct guess_node *items,
                const struct http_response *reply);

/* Adds a sentence about what was not found. */
void guess_miss(struct guess *guess, struct arena *arena, struct str sentence);

/* The whole number that a scalar has, as a number or as a text. */
bool guess_number(const struct guess_node *node, int64_t *number);

/* True for the items, and for everything in them. */
bool guess_is_in(const struct guess_node *node, const struct guess_node *items);

#endif
