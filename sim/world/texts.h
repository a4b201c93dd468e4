/* texts: the text blocks that bodies are built from.
 *
 * Bodies must be built a million times a second, so a body is little more than copies of ready
 * blocks: whole author lists, abstracts, reference lists, already in the syntax and with the
 * escapes of their API. They are built once, when the world opens, from the word tables (words.h)
 * and the seed. The hash of (seed, record, version) decides which block is used.
 *
 * Each body file in protocol/ has the table of its blocks; texts.c knows none of them.
 */
#ifndef PATRA_SIM_WORLD_TEXTS_H
#define PATRA_SIM_WORLD_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/buf.h"
#include "base/error.h"
#include "sim/util/hash.h"

enum block {
    BLOCK_TITLE_JSON,    /* without quotes */
    BLOCK_TITLE_SLASHED, /* the same with \/ */
    BLOCK_TITLE_XML,
    BLOCK_ABSTRACT_JSON,
    BLOCK_ABSTRACT_XML,
    BLOCK_GENERIC_PEOPLE,
    BLOCK_GENERIC_EXTRAS,
    BLOCK_CROSSREF_ABSTRACT,
    BLOCK_CROSSREF_AUTHORS,
    BLOCK_CROSSREF_EXTRAS,
    BLOCK_CROSSREF_JOURNAL,
    BLOCK_CROSSREF_KIND,
    BLOCK_CROSSREF_LICENSE,
    BLOCK_CROSSREF_REFERENCES,
    BLOCK_DATACITE_CREATORS,
    BLOCK_DATACITE_KIND,
    BLOCK_DATACITE_SUBJECTS,
    BLOCK_EUROPEPMC_ABSTRACT_JSON,
    BLOCK_EUROPEPMC_ABSTRACT_XML,
    BLOCK_EUROPEPMC_AUTHORS_JSON,
    BLOCK_EUROPEPMC_AUTHORS_XML,
    BLOCK_EUROPEPMC_JOURNAL_JSON,
    BLOCK_EUROPEPMC_JOURNAL_XML,
    BLOCK_EUROPEPMC_FLAGS_CORE_JSON,
    BLOCK_EUROPEPMC_FLAGS_CORE_XML,
    BLOCK_EUROPEPMC_FLAGS_LITE_JSON,
    BLOCK_EUROPEPMC_FLAGS_LITE_XML,
    BLOCK_EUROPEPMC_LISTS_JSON,
    BLOCK_EUROPEPMC_LISTS_XML,
    BLOCK_EUROPEPMC_LITE_JSON,
    BLOCK_EUROPEPMC_LITE_XML,
    BLOCK_OAI_ARXIV,
    BLOCK_OAI_DESCRIPTION,
    BLOCK_OAI_EXTRAS,
    BLOCK_OAI_PEOPLE,
    BLOCK_OPENALEX_ABSTRACT,
    BLOCK_OPENALEX_AUTHORSHIPS,
    BLOCK_OPENALEX_FUNDING,
    BLOCK_OPENALEX_LOCATION,
    BLOCK_OPENALEX_REFERENCES,
    BLOCK_OPENALEX_TOPICS,
    BLOCK_PUBMED_ABSTRACT,
    BLOCK_PUBMED_AUTHORS,
    BLOCK_PUBMED_ISSUE,
    BLOCK_PUBMED_JOURNAL,
    BLOCK_PUBMED_JOURNAL_INFO,
    BLOCK_PUBMED_KIND,
    BLOCK_PUBMED_MESH,
    BLOCK_PUBMED_REFERENCES,
    BLOCK_PUBMED_SUMMARY_AUTHORS,
    BLOCK_PUBMED_SUMMARY_JOURNAL,
    /* New ones stay at the end: the texts of a block depend on its place. */
    BLOCK_BIORXIV_AUTHORS,
    BLOCK_BIORXIV_FUNDER,
    BLOCK_CLINICALTRIALS_CONDITIONS,
    BLOCK_CLINICALTRIALS_SPONSOR,
    BLOCK_DOAJ_AUTHORS,
    BLOCK_DOAJ_JOURNAL,
    BLOCK_SEMANTICSCHOLAR_AUTHORS,
    BLOCK_COUNT,
};

struct block_spec {
    enum block block;
    uint32_t count;
    void (*make)(struct buf *out, uint64_t hash, uint32_t index);
};

struct block_table {
    const struct block_spec *specs;
    size_t count;
};

struct texts {
    struct arena arena;
    struct str *items[BLOCK_COUNT];
    uint32_t counts[BLOCK_COUNT];
};

struct block_list {
    const struct block_table *const *tables;
    size_t count;
};

bool texts_open(struct texts *texts, struct block_list blocks, uint64_t seed,
                struct error *err) MUST_CHECK;
void texts_close(struct texts *texts);

static inline struct str texts_pick(const struct texts *texts, enum block block, uint64_t hash)
{
    return texts->items[block][hash_below(hash, texts->counts[block])];
}

#endif
