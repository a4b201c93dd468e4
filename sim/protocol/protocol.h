/* protocol: the APIs that the simulator serves, each under a path of its own.
 *
 *      /entrez/eutils   NCBI E-utilities            /datacite        DataCite REST
 *      /crossref        Crossref REST               /oai             OAI-PMH
 *      /openalex        OpenAlex                    /generic         JSON in nine ways of paging
 *      /europepmc       Europe PMC REST             /biorxiv         bioRxiv, medRxiv
 *      /clinicaltrials  ClinicalTrials.gov v2       /doaj            DOAJ
 *      /semanticscholar Semantic Scholar
 *
 * docs/simulator-protocols.md describes their parameters and quirks.
 */
#ifndef PATRA_SIM_PROTOCOL_PROTOCOL_H
#define PATRA_SIM_PROTOCOL_PROTOCOL_H

#include <stdbool.h>

#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"
#include "sim/http/call.h"
#include "sim/world/world.h"

struct protocol {
    struct str prefix; /* "/crossref"; what follows is "/" or nothing */
    const char *name;
    /* Fills in the response to any request, errors of the API included. False only when the
     * simulator itself fails (memory, a response beyond its limit). */
    bool (*respond)(struct sim_world *world, struct http_call *call, struct error *err);
};

/* The protocol that owns the path, or NULL. */
const struct protocol *protocol_find(struct str path);

/* One file each. */
bool protocol_biorxiv(struct sim_world *world, struct http_call *call,
                      struct error *err) MUST_CHECK;
bool protocol_bulk(struct sim_world *world, struct http_call *call, struct str name,
                   struct error *err) MUST_CHECK; /* of protocol_generic() */
bool protocol_clinicaltrials(struct sim_world *world, struct http_call *call,
                             struct error *err) MUST_CHECK;
bool protocol_crossref(struct sim_world *world, struct http_call *call,
                       struct error *err) MUST_CHECK;
bool protocol_datacite(struct sim_world *world, struct http_call *call,
                       struct error *err) MUST_CHECK;
bool protocol_doaj(struct sim_world *world, struct http_call *call, struct error *err) MUST_CHECK;
bool protocol_entrez(struct sim_world *world, struct http_call *call, struct error *err) MUST_CHECK;
bool protocol_europepmc(struct sim_world *world, struct http_call *call,
                        struct error *err) MUST_CHECK;
bool protocol_feed(struct sim_world *world, struct http_call *call,
                   struct error *err) MUST_CHECK; /* of protocol_generic() */
bool protocol_generic(struct sim_world *world, struct http_call *call,
                      struct error *err) MUST_CHECK;
bool protocol_oai(struct sim_world *world, struct http_call *call, struct error *err) MUST_CHECK;
bool protocol_openalex(struct sim_world *world, struct http_call *call,
                       struct error *err) MUST_CHECK;
bool protocol_semanticscholar(struct sim_world *world, struct http_call *call,
                              struct error *err) MUST_CHECK;

#endif
