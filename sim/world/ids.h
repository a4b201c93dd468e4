/* ids: the id of a record in each API.
 *
 * Every id has a fixed width within its block of records, and blocks are sorted by their prefix, so
 * the byte order of ids is the order of record numbers: a comparison with a store merges two sorted
 * streams.
 */
#ifndef PATRA_SIM_WORLD_IDS_H
#define PATRA_SIM_WORLD_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum id_scheme {
    ID_PUBMED,          /* 30000017 */
    ID_CROSSREF,        /* a DOI: 10.1016/j.sim.2026.00000017, also with awkward characters */
    ID_OPENALEX,        /* https://openalex.org/W4000000017 */
    ID_EUROPEPMC,       /* MED/30000017, PPR/PPR10000017: source and id */
    ID_DATACITE,        /* 10.5281/zenodo.00000017 */
    ID_OAI,             /* oai:sim.example.org:00000017 */
    ID_ARXIV,           /* oai:arXiv.org:2600.00017 */
    ID_BIORXIV,         /* 10.64898/2026.01.01.00000017v1: DOI and version */
    ID_CLINICALTRIALS,  /* NCT06000017 */
    ID_DOAJ,            /* 32 hexadecimal digits */
    ID_SEMANTICSCHOLAR, /* 40 of them */
    ID_GENERIC,         /* r00000017 */
};

struct id {
    size_t len;
    char text[64];
};

static inline struct str id_str(const struct id *id)
{
    return (struct str){ id->text, id->len };
}

/* `records`: how many the world has; some blocks depend on it. */
struct id id_make(enum id_scheme scheme, uint32_t record, uint32_t records);

/* The record with that id. Accepts DOIs in any case, OpenAlex ids with or without their URL. */
bool id_parse(enum id_scheme scheme, struct str text, uint32_t records, uint32_t *record);

#endif
