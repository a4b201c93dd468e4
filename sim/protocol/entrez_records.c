/* The E-utilities that take ids or a history and give records: efetch, esummary, epost. */
#include <inttypes.h>

#include "sim/protocol/entrez.h"
#include "sim/protocol/page.h"
#include "sim/world/words.h"

enum { SUMMARY_IDS_MAX = 500, IDS_MAX = 100000 };

#define FETCH_HEAD                                                                              \
    "<?xml version=\"1.0\" ?>\n<!DOCTYPE PubmedArticleSet PUBLIC \"-//NLM//DTD PubMedArticle, " \
    "1st "                                                                                      \
    "January 2025//EN\" \"https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd\">\n"       \
    "<PubmedArticleSet>\n"

/* ---- histories ---- */

struct str entrez_webenv(const struct exchange *exchange, uint64_t name)
{
    return arena_printf(exchange->arena, "MCID_%016" PRIx64 "%08x", name, (uint32_t)dice_mix(name));
}

bool entrez_webenv_parse(const struct exchange *exchange, struct str text, uint64_t *name)
{
    *name = 0;
    if (text.len != 29 || !str_starts(text, STR("MCID_")))
        return false;
    for (size_t i = 5; i < 21; i++) {
        const char c = text.data[i];

        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
            return false;
        *name = *name << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return str_eq(entrez_webenv(exchange, *name), text);
}

bool entrez_kept(struct sim_world *world, struct exchange *exchange, struct world_part part,
                 struct world_page *page, bool *found, struct error *err)
{
    size_t key = 0;
    uint64_t name;

    *found = exchange->twist != TWIST_EXPIRED_TOKEN &&
             entrez_webenv_parse(exchange, exchange_param(exchange, STR("WebEnv")), &name) &&
             answer_number(exchange, STR("query_key"), &key);
    if (!*found)
        return true;
    return world_kept(world, exchange->arena, exchange->now_us,
                      &(struct world_kept_ask){ .name = { name, (uint32_t)key },
                                                .idle_us = world_options_of(world)->history_idle_us,
                                                .part = part },
                      page, found, err);
}

struct str entrez_lost_query(const struct exchange *exchange)
{
    size_t key = 0;

    (void)answer_number(exchange, STR("query_key"), &key);
    return arena_printf(exchange->arena, "Unable to obtain query #%zu", key);
}

/* ---- ids: "1,2,3", id= repeated, or a history ---- */

struct uids {
    struct str *texts; /* as asked for */
    size_t count;
};

static bool take_uids(const struct exchange *exchange, struct uids *uids, struct error *err)
{
    size_t places = 0;

    for (size_t i = 0; i < exchange->param_count; i++) {
        if (str_eq(exchange->params[i].name, STR("id")))
            places += exchange->params[i].value.len / 2 + 1;
    }
    if (places > IDS_MAX)
        places = IDS_MAX;
    *uids = (struct uids){ ARENA_ARRAY(exchange->arena, struct str, places + 1), 0 };
    if (uids->texts == NULL)
        return arena_error(exchange->arena, err);
    for (size_t i = 0; i < exchange->param_count; i++) {
        struct str rest = exchange->params[i].value;

        if (!str_eq(exchange->params[i].name, STR("id")))
            continue;
        while (rest.len > 0 && uids->count < places) {
            const struct str one = str_trim(str_cut(&rest, ','));

            if (one.len > 0)
                uids->texts[uids->count++] = one;
        }
    }
    return true;
}

/* The current version, unless the record is unknown, unborn or gone. */
static uint32_t version_of(const struct sim_world *world, const struct exchange *exchange,
                           struct str uid)
{
    const struct corpus *corpus = world_corpus(world);
    uint32_t record, version;

    if (!id_parse(ID_PUBMED, uid, corpus->count, &record))
        return CORPUS_NONE;
    version = corpus_current(corpus, record, exchange->now_us);
    if (version == CORPUS_NONE ||
        (corpus->flags[version] & (VERSION_DELETED | VERSION_MERGED)) != 0)
        return CORPUS_NONE;
    return version;
}

static bool uids_of_page(const struct exchange *exchange, const struct world_page *page,
                         struct uids *uids, struct error *err)
{
    uids->texts = ARENA_ARRAY(exchange->arena, struct str, page->count + 1);
    if (uids->texts == NULL)
        return arena_error(exchange->arena, err);
    uids->count = page->count;
    for (size_t i = 0; i < page->count; i++)
        uids->texts[i] =
            arena_printf(exchange->arena, "%u", (uint32_t)ENTREZ_UID_BASE + page->hits[i].record);
    return true;
}

/* ---- efetch ---- */

static bool fetch_error(struct exchange *exchange, int status, struct str text, struct error *err)
{
    exchange_answer(exchange, status, ENTREZ_XML,
                    STR(ENTREZ_PROLOG
                        "<!DOCTYPE eEfetchResult PUBLIC \"-//NLM//DTD efetch 20131226//EN\" "
                        "\"https://eutils.ncbi.nlm.nih.gov/eutils/dtd/20131226/efetch.dtd\">"
                        "\n<eFetchResult>\n\t<ERROR>"));
    words_xml(&exchange->reply, text, false);
    buf_add(&exchange->reply, STR("</ERROR>\n</eFetchResult>\n"));
    return buf_ok(&exchange->reply, err);
}

static bool fetch_articles(struct sim_world *world, struct exchange *exchange,
                           const struct uids *uids, struct error *err)
{
    const struct body_form *form = body_form_find(STR("pubmed"));
    struct buf *out = answer_begin(exchange, ENTREZ_XML);

    answer_reserve(exchange, uids->count * 6000 + 4096);
    buf_add(out, STR(FETCH_HEAD));
    for (size_t i = 0; i < answer_count(exchange, uids->count); i++) {
        const uint32_t version = version_of(world, exchange, uids->texts[i]);

        if (version != CORPUS_NONE && !answer_omits(exchange, i))
            body_write(form, world, out, version, answer_flaw(exchange, i, uids->count));
    }
    buf_add(out, STR("</PubmedArticleSet>"));
    return buf_ok(out, err);
}

bool entrez_efetch(struct sim_world *world, struct exchange *exchange, struct error *err)
{
    size_t retstart = 0, retmax = ENTREZ_CAP + 1;
    struct world_page page;
    struct uids uids;
    bool found;

    if (exchange->twist == TWIST_BODY_ERROR)
        return fetch_error(exchange, 200, STR("Error occurred: cannot get document summary"), err);
    if (!str_eq_nocase(exchange_param(exchange, STR("retmode")), STR("xml"))) {
        exchange_answer(exchange, 200, STR("text/plain; charset=UTF-8"),
                        STR("Pubmed-entry ::= {\n  pmid 0,\n  medent {\n    em std {\n"));
        return buf_ok(&exchange->reply, err);
    }
    if (!answer_number(exchange, STR("retstart"), &retstart) ||
        !answer_number(exchange, STR("retmax"), &retmax))
        return fetch_error(exchange, 400, STR("retstart and retmax are numbers"), err);
    if (!exchange_has_param(exchange, STR("query_key"))) {
        if (!take_uids(exchange, &uids, err))
            return false;
        if (uids.count == 0)
            return fetch_error(exchange, 400,
                               STR("ID list is empty! Possibly it has no correct "
                                   "IDs."),
                               err);
        return fetch_articles(world, exchange, &uids, err);
    }
    if (retstart > ENTREZ_CAP - 1)
        return fetch_error(exchange, 400, STR("Exception: 'retstart' cannot be larger than 9998"),
                           err);
    if (retmax > ENTREZ_CAP - retstart)
        retmax = ENTREZ_CAP - retstart; /* silently short */
    if (!entrez_kept(
            world, exchange,
            (struct world_part){ answer_skip(exchange, retstart, retmax > 0 ? retmax : 1), retmax },
            &page, &found, err))
        return false;
    if (!found)
        return fetch_error(exchange, 200, entrez_lost_query(exchange), err);
    return uids_of_page(exchange, &page, &uids, err) && fetch_articles(world, exchange, &uids, err);
}

/* ---- esummary ---- */

static bool summary_error(struct exchange *exchange, struct str text, struct error *err)
{
    exchange_answer(exchange, 200, ENTREZ_JSON,
                    STR("{\"header\":{\"type\":\"esummary\",\"version\":\"0.3\"},"
                        "\"esummaryresult\":[\""));
    buf_add(&exchange->reply, text);
    buf_add(&exchange->reply, STR("\"]}\n"));
    return buf_ok(&exchange->reply, err);
}

static void add_summary(struct sim_world *world, struct exchange *exchange, struct str uid,
                        enum body_flaw flaw)
{
    struct buf *out = &exchange->reply;
    const uint32_t version = version_of(world, exchange, uid);

    buf_add(out, STR(",\""));
    words_json(out, uid, JSON_PLAIN);
    buf_add(out, STR("\":"));
    if (version != CORPUS_NONE) {
        body_write(body_form_find(STR("pubmed-summary")), world, out, version, flaw);
        return;
    }
    buf_add(out, STR("{\"uid\":\""));
    words_json(out, uid, JSON_PLAIN);
    buf_add(out, STR("\",\"error\":\"cannot get document summary\"}"));
}

bool entrez_esummary(struct sim_world *world, struct exchange *exchange, struct error *err)
{
    size_t retstart = 0, retmax = SUMMARY_IDS_MAX;
    struct world_page page;
    struct uids uids;
    struct buf *out;
    bool found = true;

    if (exchange->twist == TWIST_BODY_ERROR ||
        !answer_number(exchange, STR("retstart"), &retstart) ||
        !answer_number(exchange, STR("retmax"), &retmax))
        return summary_error(exchange, STR("Unable to obtain query results"), err);
    if (!take_uids(exchange, &uids, err))
        return false;
    if (exchange_has_param(exchange, STR("query_key"))) {
        if (!entrez_kept(world, exchange, (struct world_part){ retstart, retmax }, &page, &found,
                         err) ||
            (found && !uids_of_page(exchange, &page, &uids, err)))
            return false;
        if (!found)
            return summary_error(exchange, entrez_lost_query(exchange), err);
    }
    if (uids.count == 0)
        return summary_error(exchange, STR("Neither query_key nor id specified"), err);
    if (uids.count > SUMMARY_IDS_MAX)
        return summary_error(exchange,
                             STR("Too many UIDs in request. Maximum number of UIDs is "
                                 "500 for JSON format output."),
                             err);
    out = answer_begin(exchange, ENTREZ_JSON);
    answer_reserve(exchange, uids.count * 2048 + 4096);
    buf_add(out, STR("{\"header\":{\"type\":\"esummary\",\"version\":\"0.3\"},\"result\":{\"uids\":"
                     "["));
    for (size_t i = 0, listed = 0; i < uids.count; i++) {
        if (answer_omits(exchange, i) || exchange->twist == TWIST_EMPTY_PAGE)
            continue;
        buf_add(out, listed++ > 0 ? STR(",\"") : STR("\""));
        words_json(out, uids.texts[i], JSON_PLAIN);
        buf_add_char(out, '"');
    }
    buf_add_char(out, ']');
    for (size_t i = 0; i < answer_count(exchange, uids.count); i++) {
        if (!answer_omits(exchange, i))
            add_summary(world, exchange, uids.texts[i], answer_flaw(exchange, i, uids.count));
    }
    buf_add(out, STR("}}\n"));
    return buf_ok(out, err);
}

/* ---- epost ---- */

bool entrez_epost(struct sim_world *world, struct exchange *exchange, struct error *err)
{
    const struct corpus *corpus = world_corpus(world);
    struct uids uids;
    struct hit *hits;
    size_t count = 0;
    struct world_name name = { 0 };

    exchange->page = PAGE_NONE;
    if (!take_uids(exchange, &uids, err))
        return false;
    hits = ARENA_ARRAY(exchange->arena, struct hit, uids.count + 1);
    if (hits == NULL)
        return arena_error(exchange->arena, err);
    for (size_t i = 0; i < uids.count; i++) {
        uint32_t record;

        if (id_parse(ID_PUBMED, uids.texts[i], corpus->count, &record))
            hits[count++] = (struct hit){ record, corpus->first[record] };
    }
    if (!world_keep_hits(world, exchange->now_us, hits, count, &name, err))
        return false;
    (void)answer_begin(exchange, ENTREZ_XML);
    buf_printf(&exchange->reply,
               ENTREZ_PROLOG "<!DOCTYPE ePostResult PUBLIC \"-//NLM//DTD epost 20090526//EN\" "
                             "\"https://eutils.ncbi.nlm.nih.gov/eutils/dtd/20090526/epost.dtd\">"
                             "<ePostResult>\n\t<QueryKey>%u</QueryKey>\n\t<WebEnv>%.*s</WebEnv>\n"
                             "</ePostResult>\n",
               name.number, STR_ARG(entrez_webenv(exchange, name.name)));
    return buf_ok(&exchange->reply, err);
}
