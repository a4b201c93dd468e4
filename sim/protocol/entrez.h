/* entrez: what the E-utilities share: histories, and the limits of PubMed. */
#ifndef PATRA_SIM_PROTOCOL_ENTREZ_H
#define PATRA_SIM_PROTOCOL_ENTREZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "sim/http/call.h"
#include "sim/world/world.h"

enum {
    ENTREZ_CAP = 9999, /* the hits of a search that can be read */
    ENTREZ_UID_BASE = 30000000,
};

#define ENTREZ_JSON STR("application/json; charset=UTF-8")
#define ENTREZ_XML STR("text/xml; charset=UTF-8")
#define ENTREZ_PROLOG "<?xml version=\"1.0\" encoding=\"UTF-8\" ?>\n"

/* "MCID_" and 24 digits, of which 16 are the name. */
struct str entrez_webenv(const struct http_call *call, uint64_t name);
bool entrez_webenv_parse(const struct http_call *call, struct str text, uint64_t *name);

/* The hits of the request's WebEnv and query_key; *found is false when they have expired. */
bool entrez_kept(struct sim_world *world, struct http_call *call, struct world_part part,
                 struct world_page *page, bool *found, struct error *err) MUST_CHECK;

/* "Unable to obtain query #1" */
struct str entrez_lost_query(const struct http_call *call);

bool entrez_efetch(struct sim_world *world, struct http_call *call, struct error *err) MUST_CHECK;
bool entrez_esummary(struct sim_world *world, struct http_call *call, struct error *err) MUST_CHECK;
bool entrez_epost(struct sim_world *world, struct http_call *call, struct error *err) MUST_CHECK;

#endif
