/* The E-utilities that take ids or a history: efetch, esummary, epost. */
#include <inttypes.h>

#include "sim/protocol/entrez.h"
#include "sim/protocol/page.h"
#include "sim/util/text_out.h"

enum { SUMMARY_IDS_MAX = 500, IDS_MAX = 100000 };

#define FETCH_HEAD                                                                              \
    "<?xml version=\"1.0\" ?>\n<!DOCTYPE PubmedArticleSet PUBLIC \"-//NLM//DTD PubMedArticle, " \
    "1st "                                                                                      \
    "January 2025//EN\" \"https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd\">\n"       \
    "<PubmedArticleSet>\n"

/* ---- histories ---- */

struct str entrez_webenv(const struct http_call *call, uint64_t name)
{
    return arena_printf(call->arena, "MCID_%016" PRIx64 "%08x", name, (uint32_t)hash_mix(name));
}

bool entrez_webenv_parse(const struct http_call *call, struct str text, uint64_t *name)
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
    return str_eq(entrez_webenv(call, *name), text);
}

bool entrez_kept(struct sim_world *world, struct http_call *call, struct world_part part,
                 struct world_page *page, bool *found, struct error *err)
{
    size_t key = 0;
    uint64_t name;

    *found = call->content_fault != CONTENT_FAULT_EXPIRED_TOKEN &&
             entrez_webenv_parse(call, call_param(call, STR("WebEnv")), &name) &&
             page_param_number(call, STR("query_key"), &key);
    if (!*found)
        return true;
    return world_kept(
        page_at(world, call),
        &(struct world_kept_query){ .name = { name, (uint32_t)key },
                                    .idle_us = world_options_of(world)->history_idle_us,
                                    .part = part },
        page, found, err);
}

struct str entrez_lost_query(const struct http_call *call)
{
    size_t key = 0;

    (void)page_param_number(call, STR("query_key"), &key);
    return arena_printf(call->arena, "Unable to obtain query #%zu", key);
}

/* ---- ids: "1,2,3", id= repeated, or a history ---- */

struct uids {
    struct str *texts; /* as requested */
    size_t count;
};

static bool take_uids(const struct http_call *call, struct uids *uids, struct error *err)
{
    size_t places = 0;

    for (size_t i = 0; i < call->param_count; i++) {
        if (str_eq(call->params[i].name, STR("id")))
            places += call->params[i].value.len / 2 + 1;
    }
    if (places > IDS_MAX)
        places = IDS_MAX;
    *uids = (struct uids){ ARENA_ARRAY(call->arena, struct str, places + 1), 0 };
    if (uids->texts == NULL)
        return arena_error(call->arena, err);
    for (size_t i = 0; i < call->param_count; i++) {
        struct str rest = call->params[i].value;

        if (!str_eq(call->params[i].name, STR("id")))
            continue;
        while (rest.len > 0 && uids->count < places) {
            const struct str one = str_trim(str_cut(&rest, ','));

            if (one.len > 0)
                uids->texts[uids->count++] = one;
        }
    }
    return true;
}

/* The current version, unless the record is unknown, not yet visible or deleted. */
static uint32_t version_of(const struct sim_world *world, const struct http_call *call,
                           struct str uid)
{
    const struct corpus *corpus = world_corpus(world);
    uint32_t record, version;

    if (!id_parse(ID_PUBMED, uid, corpus->count, &record))
        return CORPUS_NONE;
    version = corpus_current(corpus, record, call->now_us);
    if (version == CORPUS_NONE ||
        (corpus->flags[version] & (VERSION_DELETED | VERSION_MERGED)) != 0)
        return CORPUS_NONE;
    return version;
}

static bool uids_of_page(const struct http_call *call, const struct world_page *page,
                         struct uids *uids, struct error *err)
{
    uids->texts = ARENA_ARRAY(call->arena, struct str, page->count + 1);
    if (uids->texts == NULL)
        return arena_error(call->arena, err);
    uids->count = page->count;
    for (size_t i = 0; i < page->count; i++)
        uids->texts[i] =
            arena_printf(call->arena, "%u", (uint32_t)ENTREZ_UID_BASE + page->hits[i].record);
    return true;
}

/* ---- efetch ---- */

static bool fetch_error(struct http_call *call, int status, struct str text, struct error *err)
{
    call_respond(call, status, ENTREZ_XML,
                 STR(ENTREZ_PROLOG
                     "<!DOCTYPE eEfetchResult PUBLIC \"-//NLM//DTD efetch 20131226//EN\" "
                     "\"https://eutils.ncbi.nlm.nih.gov/eutils/dtd/20131226/efetch.dtd\">"
                     "\n<eFetchResult>\n\t<ERROR>"));
    text_add_xml(&call->response, text, false);
    buf_add(&call->response, STR("</ERROR>\n</eFetchResult>\n"));
    return buf_ok(&call->response, err);
}

static bool fetch_articles(struct sim_world *world, struct http_call *call, const struct uids *uids,
                           struct error *err)
{
    const struct body_form *form = body_form_find(STR("pubmed"));
    struct buf *out = page_begin(call, ENTREZ_XML);

    page_reserve(call, uids->count * 6000 + 4096);
    buf_add(out, STR(FETCH_HEAD));
    for (size_t i = 0; i < page_count(call, uids->count); i++) {
        const uint32_t version = version_of(world, call, uids->texts[i]);

        if (version != CORPUS_NONE && !page_omits_id(call, i))
            body_write(form, world, out, version, page_flaw(call, i, uids->count));
    }
    buf_add(out, STR("</PubmedArticleSet>"));
    return buf_ok(out, err);
}

bool entrez_efetch(struct sim_world *world, struct http_call *call, struct error *err)
{
    size_t retstart = 0, retmax = ENTREZ_CAP + 1;
    struct world_page page;
    struct uids uids;
    bool found;

    if (call->content_fault == CONTENT_FAULT_BODY_ERROR)
        return fetch_error(call, 200, STR("Error occurred: cannot get document summary"), err);
    if (!str_eq_nocase(call_param(call, STR("retmode")), STR("xml"))) {
        call_respond(call, 200, STR("text/plain; charset=UTF-8"),
                     STR("Pubmed-entry ::= {\n  pmid 0,\n  medent {\n    em std {\n"));
        return buf_ok(&call->response, err);
    }
    if (!page_param_number(call, STR("retstart"), &retstart) ||
        !page_param_number(call, STR("retmax"), &retmax))
        return fetch_error(call, 400, STR("retstart and retmax are numbers"), err);
    if (!call_has_param(call, STR("query_key"))) {
        if (!take_uids(call, &uids, err))
            return false;
        if (uids.count == 0)
            return fetch_error(call, 400,
                               STR("ID list is empty! Possibly it has no correct "
                                   "IDs."),
                               err);
        return fetch_articles(world, call, &uids, err);
    }
    if (retstart > ENTREZ_CAP - 1)
        return fetch_error(call, 400, STR("Exception: 'retstart' cannot be larger than 9998"), err);
    if (retmax > ENTREZ_CAP - retstart)
        retmax = ENTREZ_CAP - retstart; /* silently short */
    if (!entrez_kept(
            world, call,
            (struct world_part){ page_skip(call, retstart, retmax > 0 ? retmax : 1), retmax },
            &page, &found, err))
        return false;
    if (!found)
        return fetch_error(call, 200, entrez_lost_query(call), err);
    return uids_of_page(call, &page, &uids, err) && fetch_articles(world, call, &uids, err);
}

/* ---- esummary ---- */

static bool summary_error(struct http_call *call, struct str text, struct error *err)
{
    call_respond(call, 200, ENTREZ_JSON,
                 STR("{\"header\":{\"type\":\"esummary\",\"version\":\"0.3\"},"
                     "\"esummaryresult\":[\""));
    buf_add(&call->response, text);
    buf_add(&call->response, STR("\"]}\n"));
    return buf_ok(&call->response, err);
}

static void add_summary(struct sim_world *world, struct http_call *call, struct str uid,
                        enum body_flaw flaw)
{
    struct buf *out = &call->response;
    const uint32_t version = version_of(world, call, uid);

    buf_add(out, STR(",\""));
    text_add_json(out, uid, JSON_PLAIN);
    buf_add(out, STR("\":"));
    if (version != CORPUS_NONE) {
        body_write(body_form_find(STR("pubmed-summary")), world, out, version, flaw);
        return;
    }
    buf_add(out, STR("{\"uid\":\""));
    text_add_json(out, uid, JSON_PLAIN);
    buf_add(out, STR("\",\"error\":\"cannot get document summary\"}"));
}

bool entrez_esummary(struct sim_world *world, struct http_call *call, struct error *err)
{
    size_t retstart = 0, retmax = SUMMARY_IDS_MAX;
    struct world_page page;
    struct uids uids;
    struct buf *out;
    bool found = true;

    if (call->content_fault == CONTENT_FAULT_BODY_ERROR ||
        !page_param_number(call, STR("retstart"), &retstart) ||
        !page_param_number(call, STR("retmax"), &retmax))
        return summary_error(call, STR("Unable to obtain query results"), err);
    if (!take_uids(call, &uids, err))
        return false;
    if (call_has_param(call, STR("query_key"))) {
        if (!entrez_kept(world, call, (struct world_part){ retstart, retmax }, &page, &found,
                         err) ||
            (found && !uids_of_page(call, &page, &uids, err)))
            return false;
        if (!found)
            return summary_error(call, entrez_lost_query(call), err);
    }
    if (uids.count == 0)
        return summary_error(call, STR("Neither query_key nor id specified"), err);
    if (uids.count > SUMMARY_IDS_MAX)
        return summary_error(call,
                             STR("Too many UIDs in request. Maximum number of UIDs is "
                                 "500 for JSON format output."),
                             err);
    out = page_begin(call, ENTREZ_JSON);
    page_reserve(call, uids.count * 2048 + 4096);
    buf_add(out, STR("{\"header\":{\"type\":\"esummary\",\"version\":\"0.3\"},\"result\":{\"uids\":"
                     "["));
    for (size_t i = 0, listed = 0; i < uids.count; i++) {
        if (page_omits_id(call, i) || call->content_fault == CONTENT_FAULT_EMPTY_PAGE)
            continue;
        buf_add(out, listed++ > 0 ? STR(",\"") : STR("\""));
        text_add_json(out, uids.texts[i], JSON_PLAIN);
        buf_add_char(out, '"');
    }
    buf_add_char(out, ']');
    for (size_t i = 0; i < page_count(call, uids.count); i++) {
        if (!page_omits_id(call, i))
            add_summary(world, call, uids.texts[i], page_flaw(call, i, uids.count));
    }
    buf_add(out, STR("}}\n"));
    return buf_ok(out, err);
}

/* ---- epost ---- */

bool entrez_epost(struct sim_world *world, struct http_call *call, struct error *err)
{
    const struct corpus *corpus = world_corpus(world);
    struct uids uids;
    struct hit *hits;
    size_t count = 0;
    struct world_name name = { 0 };

    call->page = PAGE_NONE;
    if (!take_uids(call, &uids, err))
        return false;
    hits = ARENA_ARRAY(call->arena, struct hit, uids.count + 1);
    if (hits == NULL)
        return arena_error(call->arena, err);
    for (size_t i = 0; i < uids.count; i++) {
        uint32_t record;

        if (id_parse(ID_PUBMED, uids.texts[i], corpus->count, &record))
            hits[count++] = (struct hit){ record, corpus->first[record] };
    }
    if (!world_keep_hits(page_at(world, call), hits, count, &name, err))
        return false;
    (void)page_begin(call, ENTREZ_XML);
    buf_printf(&call->response,
               ENTREZ_PROLOG "<!DOCTYPE ePostResult PUBLIC \"-//NLM//DTD epost 20090526//EN\" "
                             "\"https://eutils.ncbi.nlm.nih.gov/eutils/dtd/20090526/epost.dtd\">"
                             "<ePostResult>\n\t<QueryKey>%u</QueryKey>\n\t<WebEnv>%.*s</WebEnv>\n"
                             "</ePostResult>\n",
               name.number, STR_ARG(entrez_webenv(call, name.name)));
    return buf_ok(&call->response, err);
}
