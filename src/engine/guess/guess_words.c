/* Names as words. */
#include "engine/guess/guess_words.h"

#include <string.h>

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_word(char c)
{
    return is_upper(c) || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* A capital begins a word after a small letter, and before one in the end of capitals: DOIList. */
static bool begins_word(struct str name, size_t at)
{
    const char c = name.data[at];
    const bool ends_capitals =
        at + 1 < name.len && is_word(name.data[at + 1]) && !is_upper(name.data[at + 1]);

    if (!is_upper(c))
        return false;
    return !is_upper(name.data[at - 1]) || ends_capitals;
}

static void add_word(struct guess_words *words, struct str word)
{
    char *slot;

    if (words->count == GUESS_WORDS_MAX || word.len == 0 || word.len >= GUESS_WORD_MAX)
        return;
    slot = words->items[words->count];
    for (size_t i = 0; i < word.len; i++)
        slot[i] = is_upper(word.data[i]) ? (char)(word.data[i] | 0x20) : word.data[i];
    slot[word.len] = '\0';
    for (size_t i = 0; i < words->count; i++) {
        if (strcmp(words->items[i], slot) == 0)
            return;
    }
    words->count++;
}

void guess_words_add(struct guess_words *words, struct str name)
{
    size_t from = 0;

    for (size_t at = 0; at <= name.len; at++) {
        const bool ends = at == name.len || !is_word(name.data[at]);

        if (!ends && (at == from || !begins_word(name, at)))
            continue;
        add_word(words, str_slice(name, from, at));
        from = ends ? at + 1 : at;
    }
}

struct guess_words guess_words_of(const struct guess_node *node, const struct guess_node *from)
{
    struct guess_words words = { 0 };

    for (; node != NULL && node != from; node = node->parent)
        guess_words_add(&words, node->name);
    return words;
}

bool guess_words_have(const struct guess_words *words, const char *word)
{
    for (size_t i = 0; i < words->count; i++) {
        if (strcmp(words->items[i], word) == 0)
            return true;
    }
    return false;
}

int guess_words_points(const struct guess_words *words, const struct guess_word *table,
                       size_t *known)
{
    int points = 0;

    if (known != NULL)
        *known = 0;
    for (; table->word != NULL; table++) {
        if (!guess_words_have(words, table->word))
            continue;
        points += table->points;
        if (known != NULL)
            ++*known;
    }
    return points;
}

enum guess_certainty guess_certainty_of(int points, int lead)
{
    if (points >= 10 && lead >= 3)
        return GUESS_SURE;
    return points >= 6 ? GUESS_LIKELY : GUESS_WEAK;
}
