/* guess_words: the words that names are made of, and points for them.
 *
 *      lastUpdatePostDateStruct   last update post date struct
 *      next-cursor, @odata.count  next cursor, odata count
 *
 * A name has the points of its words in a table. Words that are not in it have none.
 */
#ifndef PATRA_ENGINE_GUESS_GUESS_WORDS_H
#define PATRA_ENGINE_GUESS_GUESS_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "engine/guess/guess_tree.h"

enum { GUESS_WORDS_MAX = 32, GUESS_WORD_MAX = 24 };

struct guess_words { /* in lower case, each once */
    char items[GUESS_WORDS_MAX][GUESS_WORD_MAX];
    size_t count;
};

struct guess_word {
    const char *word;
    int points;
};

void guess_words_add(struct guess_words *words, struct str name);

/* The words of all names on the way to a node. */
struct guess_words guess_words_of(const struct guess_node *node, const struct guess_node *from);

bool guess_words_have(const struct guess_words *words, const char *word);

/* Ends at the row without a word. *known, unless NULL, is how many words are in the table. */
int guess_words_points(const struct guess_words *words, const struct guess_word *table,
                       size_t *known);

/* What the points of the best candidate, and its lead over the next, are worth. */
enum guess_certainty guess_certainty_of(int points, int lead);

#endif
