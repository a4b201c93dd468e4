/* The table of protocols, by path. */
#include "sim/protocol/protocol.h"

static const struct protocol protocols[] = {
    { STR_INIT("/biorxiv"), "biorxiv", protocol_biorxiv },
    { STR_INIT("/clinicaltrials/api/v2"), "clinicaltrials", protocol_clinicaltrials },
    { STR_INIT("/crossref"), "crossref", protocol_crossref },
    { STR_INIT("/datacite"), "datacite", protocol_datacite },
    { STR_INIT("/doaj/api"), "doaj", protocol_doaj },
    { STR_INIT("/entrez/eutils"), "entrez", protocol_entrez },
    { STR_INIT("/europepmc"), "europepmc", protocol_europepmc },
    { STR_INIT("/generic"), "generic", protocol_generic },
    { STR_INIT("/oai"), "oai", protocol_oai },
    { STR_INIT("/openalex"), "openalex", protocol_openalex },
    { STR_INIT("/openalex-2025"), "openalex", protocol_openalex },
    { STR_INIT("/semanticscholar"), "semanticscholar", protocol_semanticscholar },
};

const struct protocol *protocol_find(struct str path)
{
    for (size_t i = 0; i < ARRAY_LEN(protocols); i++) {
        const struct str prefix = protocols[i].prefix;

        if (str_starts(path, prefix) && (path.len == prefix.len || path.data[prefix.len] == '/'))
            return &protocols[i];
    }
    return NULL;
}
