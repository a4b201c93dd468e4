/* words: the vocabulary of titles, abstracts, people and journals, in UTF-8 and in many scripts.
 *
 * Every function picks by a hash: equal hashes give equal words.
 */
#ifndef PATRA_SIM_WORLD_WORDS_H
#define PATRA_SIM_WORLD_WORDS_H

#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

struct person {
    struct str given;
    struct str family;
    struct str initials;
};

struct journal {
    struct str title;
    struct str abbreviation;
    struct str publisher;
    struct str issn;
    struct str eissn;
    struct str nlm_id;
    struct str member;
};

struct str words_term(uint64_t hash);    /* a scientific noun, ASCII */
struct str words_keyword(uint64_t hash); /* one or two words, ASCII */
struct str words_place(uint64_t hash);   /* an affiliation, any script */
struct str words_country(uint64_t hash); /* two letters */
struct person words_person(uint64_t hash);
struct journal words_journal(uint64_t hash);

void words_title(struct buf *out, uint64_t hash);
void words_sentence(struct buf *out, uint64_t hash); /* ends with a full stop */
void words_orcid(struct buf *out, uint64_t hash);    /* 0000-0002-1825-0097 */

#endif
