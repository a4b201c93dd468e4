/* body: a record as an API returns it.
 *
 * A body depends only on (options, record, version) and on the form: not on the time, the page, the
 * host or the thread. So the truth can hash a body without serving it, and two runs serve the same
 * bytes.
 */
#ifndef PATRA_SIM_PROTOCOL_BODY_H
#define PATRA_SIM_PROTOCOL_BODY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "sim/world/ids.h"
#include "sim/world/world.h"

/* What is wrong with a faulty record; see enum content_fault in http/call.h. */
enum body_flaw { FLAW_NONE, FLAW_NO_ID, FLAW_NO_DATE, FLAW_BAD_DATE };

/* Everything a body is built from. */
struct body {
    const struct corpus *corpus;
    const struct texts *texts;
    struct buf *out;
    enum body_flaw flaw;
    uint32_t record;
    uint32_t version;
    uint32_t ordinal;
    uint8_t flags;
    int64_t at_us;
    int64_t created_us;
    int64_t sequence;      /* of the version, in feeds */
    uint64_t record_hash;  /* the same for all versions */
    uint64_t version_hash; /* differs between versions */
};

static inline uint64_t body_hash(const struct body *body, uint64_t question)
{
    return hash_mix(body->record_hash + question * UINT64_C(0x9e3779b97f4a7c15));
}

static inline uint64_t body_version_hash(const struct body *body, uint64_t question)
{
    return hash_mix(body->version_hash + question * UINT64_C(0x9e3779b97f4a7c15));
}

static inline void body_pick(const struct body *body, enum block block, uint64_t hash)
{
    buf_add(body->out, texts_pick(body->texts, block, hash));
}

static inline void body_add(const struct body *body, struct str s)
{
    buf_add(body->out, s);
}

/* Opens a world that can write the bodies of all APIs. NULL with an error, as world_open(). */
struct sim_world *body_world_open(const struct world_options *options,
                                  struct error *err) MUST_CHECK;

struct id body_id(const struct body *body, enum id_scheme scheme);

/* A format of records. Names are those of /_sim/truth?protocol=. */
struct body_form {
    struct str name;
    enum id_scheme ids;
    enum view_mode mode;  /* of this API's lists; VIEW_ALL: tombstones are served */
    int64_t date_unit_us; /* precision of the version's date in a body; 0: it has none */
    void (*add)(struct body *body);
};

/* NULL: no such form. */
const struct body_form *body_form_find(struct str name);

/* Writes one body. */
void body_write(const struct body_form *form, const struct sim_world *world, struct buf *out,
                uint32_t version, enum body_flaw flaw);

/* Of each body_*.c: its writers, and its text blocks. */
void body_arxiv(struct body *body);
void body_biorxiv(struct body *body);
void body_clinicaltrials(struct body *body);
void body_crossref(struct body *body);
void body_crossref_work(struct body *body);
void body_datacite(struct body *body);
void body_datacite_doi(struct body *body);
void body_doaj(struct body *body);
void body_europepmc_core(struct body *body);
void body_europepmc_core_xml(struct body *body);
void body_europepmc_idlist(struct body *body);
void body_europepmc_idlist_xml(struct body *body);
void body_europepmc_lite(struct body *body);
void body_europepmc_lite_xml(struct body *body);
void body_generic(struct body *body);
void body_generic_feed(struct body *body);
void body_medrxiv(struct body *body);
void body_oai(struct body *body);
void body_oai_days(struct body *body);
void body_openalex(struct body *body);
void body_pubmed(struct body *body);
void body_pubmed_summary(struct body *body);
void body_semanticscholar(struct body *body);

extern const struct block_table body_biorxiv_blocks;
extern const struct block_table body_clinicaltrials_blocks;
extern const struct block_table body_crossref_blocks;
extern const struct block_table body_datacite_blocks;
extern const struct block_table body_doaj_blocks;
extern const struct block_table body_europepmc_blocks;
extern const struct block_table body_generic_blocks;
extern const struct block_table body_oai_blocks;
extern const struct block_table body_openalex_blocks;
extern const struct block_table body_pubmed_blocks;
extern const struct block_table body_pubmed_summary_blocks;
extern const struct block_table body_semanticscholar_blocks;
extern const struct block_table body_shared_blocks;

#endif
