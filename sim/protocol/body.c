/* The table of forms, and the text blocks that several APIs share. */
#include "sim/protocol/body.h"

#include "base/attr.h"
#include "base/instant.h"
#include "sim/util/text_out.h"
#include "sim/world/words.h"

static const struct body_form forms[] = {
    { STR_INIT("arxiv"), ID_ARXIV, VIEW_ALL, US_PER_DAY, body_arxiv },
    /* Their date is that of their creation, and stays. */
    { STR_INIT("biorxiv"), ID_BIORXIV, VIEW_LIVE, 0, body_biorxiv },
    { STR_INIT("clinicaltrials"), ID_CLINICALTRIALS, VIEW_LIVE, US_PER_DAY, body_clinicaltrials },
    { STR_INIT("crossref"), ID_CROSSREF, VIEW_NOT_MERGED, US_PER_SECOND, body_crossref },
    { STR_INIT("crossref-work"), ID_CROSSREF, VIEW_NOT_MERGED, US_PER_SECOND, body_crossref_work },
    { STR_INIT("datacite"), ID_DATACITE, VIEW_LIVE, US_PER_SECOND, body_datacite },
    { STR_INIT("datacite-doi"), ID_DATACITE, VIEW_LIVE, US_PER_SECOND, body_datacite_doi },
    { STR_INIT("doaj"), ID_DOAJ, VIEW_LIVE, US_PER_SECOND, body_doaj },
    { STR_INIT("europepmc"), ID_EUROPEPMC, VIEW_LIVE, 0, body_europepmc_core },
    { STR_INIT("europepmc-idlist"), ID_EUROPEPMC, VIEW_LIVE, 0, body_europepmc_idlist },
    { STR_INIT("europepmc-idlist-xml"), ID_EUROPEPMC, VIEW_LIVE, 0, body_europepmc_idlist_xml },
    { STR_INIT("europepmc-lite"), ID_EUROPEPMC, VIEW_LIVE, 0, body_europepmc_lite },
    { STR_INIT("europepmc-lite-xml"), ID_EUROPEPMC, VIEW_LIVE, 0, body_europepmc_lite_xml },
    { STR_INIT("europepmc-xml"), ID_EUROPEPMC, VIEW_LIVE, 0, body_europepmc_core_xml },
    { STR_INIT("generic"), ID_GENERIC, VIEW_ALL, 1, body_generic },
    { STR_INIT("generic-feed"), ID_GENERIC, VIEW_ALL, 1, body_generic_feed },
    { STR_INIT("generic-sync"), ID_GENERIC, VIEW_LIVE, 1, body_generic },
    { STR_INIT("medrxiv"), ID_BIORXIV, VIEW_LIVE, 0, body_medrxiv },
    { STR_INIT("oai"), ID_OAI, VIEW_ALL, US_PER_SECOND, body_oai },
    { STR_INIT("oai-day"), ID_OAI, VIEW_ALL, US_PER_DAY, body_oai_days },
    { STR_INIT("openalex"), ID_OPENALEX, VIEW_LIVE, 1, body_openalex },
    { STR_INIT("pubmed"), ID_PUBMED, VIEW_LIVE, US_PER_DAY, body_pubmed },
    { STR_INIT("pubmed-summary"), ID_PUBMED, VIEW_LIVE, 0, body_pubmed_summary },
    { STR_INIT("semanticscholar"), ID_SEMANTICSCHOLAR, VIEW_LIVE, 0, body_semanticscholar },
};

const struct body_form *body_form_find(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        if (str_eq(forms[i].name, name))
            return &forms[i];
    }
    return NULL;
}

static struct body body_begin(const struct sim_world *world, struct buf *out, uint32_t version,
                              enum body_flaw flaw)
{
    const struct corpus *corpus = world_corpus(world);
    const uint32_t record = corpus->record_of[version];
    const uint32_t ordinal = corpus_ordinal(corpus, version);
    const uint64_t seed = (uint64_t)corpus->options.seed;

    return (struct body){
        .corpus = corpus,
        .texts = world_texts(world),
        .out = out,
        .flaw = flaw,
        .record = record,
        .version = version,
        .ordinal = ordinal,
        .flags = corpus->flags[version],
        .at_us = corpus->at_us[version],
        .created_us = corpus_created_us(corpus, record),
        .sequence = world_sequence_of(world, version),
        .record_hash = hash_of(seed, record, 0x626f6479),
        .version_hash = hash_of(seed, (uint64_t)record << 8 | ordinal, 0x76657273),
    };
}

struct id body_id(const struct body *body, enum id_scheme scheme)
{
    return id_make(scheme, body->record, body->corpus->count);
}

void body_write(const struct body_form *form, const struct sim_world *world, struct buf *out,
                uint32_t version, enum body_flaw flaw)
{
    struct body body = body_begin(world, out, version, flaw);

    form->add(&body);
}

/* ---- blocks that several APIs share ---- */

enum { TEXT_MAX = 1 << 16 };

enum syntax { SYNTAX_JSON, SYNTAX_SLASHED, SYNTAX_XML };

static void add_text(struct buf *out, struct buf *plain, enum syntax syntax, uint64_t hash)
{
    if (syntax == SYNTAX_XML)
        text_add_xml(out, buf_str(plain), hash % 3 == 0);
    else
        text_add_json(out, buf_str(plain),
                      (hash % 5 == 0 ? JSON_ASCII : 0) |
                          (syntax == SYNTAX_SLASHED ? JSON_SLASHES : 0));
}

static void make_title(struct buf *out, uint64_t hash, enum syntax syntax)
{
    struct buf plain;

    buf_init(&plain, out->arena, TEXT_MAX);
    words_title(&plain, hash);
    add_text(out, &plain, syntax, hash);
}

static void make_title_json(struct buf *out, uint64_t hash, uint32_t index)
{
    (void)index;
    make_title(out, hash, SYNTAX_JSON);
}

static void make_title_slashed(struct buf *out, uint64_t hash, uint32_t index)
{
    (void)index;
    make_title(out, hash, SYNTAX_SLASHED);
}

static void make_title_xml(struct buf *out, uint64_t hash, uint32_t index)
{
    (void)index;
    make_title(out, hash, SYNTAX_XML);
}

/* From three sentences to about thirty. */
static void make_abstract(struct buf *out, uint64_t hash, enum syntax syntax)
{
    const uint64_t sentences = 3 + hash_below(hash, 28);
    struct buf plain;

    buf_init(&plain, out->arena, TEXT_MAX);
    for (uint64_t i = 0; i < sentences; i++) {
        words_sentence(&plain, hash_mix(hash + i));
        buf_add_char(&plain, i % 7 == 6 ? '\n' : ' ');
    }
    add_text(out, &plain, syntax, hash);
}

static void make_abstract_json(struct buf *out, uint64_t hash, uint32_t index)
{
    (void)index;
    make_abstract(out, hash, SYNTAX_JSON);
}

static void make_abstract_xml(struct buf *out, uint64_t hash, uint32_t index)
{
    (void)index;
    make_abstract(out, hash, SYNTAX_XML);
}

static const struct block_spec blocks[] = {
    { BLOCK_TITLE_JSON, 512, make_title_json },
    { BLOCK_TITLE_SLASHED, 512, make_title_slashed },
    { BLOCK_TITLE_XML, 512, make_title_xml },
    { BLOCK_ABSTRACT_JSON, 256, make_abstract_json },
    { BLOCK_ABSTRACT_XML, 256, make_abstract_xml },
};
const struct block_table body_shared_blocks = { blocks, ARRAY_LEN(blocks) };

struct sim_world *body_world_open(const struct world_options *options, struct error *err)
{
    static const struct block_table *const tables[] = {
        &body_shared_blocks,          &body_biorxiv_blocks,
        &body_clinicaltrials_blocks,  &body_doaj_blocks,
        &body_semanticscholar_blocks, &body_crossref_blocks,
        &body_datacite_blocks,        &body_europepmc_blocks,
        &body_generic_blocks,         &body_oai_blocks,
        &body_openalex_blocks,        &body_pubmed_blocks,
        &body_pubmed_summary_blocks,
    };

    return world_open(options, (struct block_list){ tables, ARRAY_LEN(tables) }, err);
}
