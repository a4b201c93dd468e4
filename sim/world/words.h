/* words: plain language for titles, abstracts and people, in UTF-8 and of many scripts, and the
 * two ways to write it down.
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

struct str words_term(uint64_t hash);    /* a noun of science, ASCII */
struct str words_keyword(uint64_t hash); /* one or two words, ASCII */
struct str words_place(uint64_t hash);   /* an affiliation, any script */
struct str words_country(uint64_t hash); /* two letters */
struct person words_person(uint64_t hash);
struct journal words_journal(uint64_t hash);

void words_title(struct buf *out, uint64_t hash);
void words_sentence(struct buf *out, uint64_t hash); /* ends with a full stop */
void words_orcid(struct buf *out, uint64_t hash);    /* 0000-0002-1825-0097 */

/* How a string is written in JSON: always what must be escaped, and more where asked. */
enum {
    JSON_PLAIN = 0,
    JSON_SLASHES = 1, /* \/ */
    JSON_ASCII = 2,   /* \u00e9, \ud835\udefc */
};
void words_json(struct buf *out, struct str text, int flags);

/* In XML: & < > and, where asked, what is not ASCII as a hexadecimal reference. */
void words_xml(struct buf *out, struct str text, bool references);

/* Numbers without printf: bodies are made of many. */
void words_number(struct buf *out, uint64_t number);
void words_padded(struct buf *out, uint64_t number, int digits);

#endif
