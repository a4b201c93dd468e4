/* NCBI's E-utilities over PubMed: /entrez/eutils/esearch.fcgi, esummary.fcgi, efetch.fcgi,
 * epost.fcgi.
 *
 * Only the first 9,999 hits of a search can be read. A request beyond them gets an error with
 * status 200, in JSON that is invalid because a string contains a raw newline. A history (WebEnv,
 * query_key) keeps the uids of a search for some hours; efetch returns their current state, or
 * nothing.
 */
#include "base/instant.h"
#include "sim/protocol/entrez.h"
#include "sim/protocol/entrez_term.h"
#include "sim/protocol/page.h"
#include "sim/protocol/protocol.h"
#include "sim/util/api_date.h"
#include "sim/util/text_out.h"

enum {
    RETMAX_PRESET = 20,
    URI_MAX = 8192,
};

#define SEARCH_DOCTYPE                                                     \
    "<!DOCTYPE eSearchResult PUBLIC \"-//NLM//DTD esearch 20060628//EN\" " \
    "\"https://eutils.ncbi.nlm.nih.gov/eutils/dtd/20060628/esearch.dtd\">\n"
static bool wants_json(const struct http_call *call)
{
    return str_eq_nocase(call_param(call, STR("retmode")), STR("json"));
}

/* ---- esearch ---- */

struct search {
    struct view_query query;
    struct str term;
    size_t retstart;
    size_t retmax;
    bool clamped;
    struct str webenv;
    uint32_t query_key;
};

static bool search_error(struct http_call *call, struct str text, struct error *err)
{
    struct buf *out = &call->response;

    if (wants_json(call)) {
        call_respond(call, 200, ENTREZ_JSON,
                     STR("{\"header\":{\"type\":\"esearch\",\"version\":\"0.3\"},"
                         "\"esearchresult\":{\"ERROR\":\""));
        buf_add(out, text); /* as NCBI does: not escaped */
        buf_add(out, STR("\"}}\n"));
    } else {
        call_respond(call, 200, ENTREZ_XML,
                     STR(ENTREZ_PROLOG SEARCH_DOCTYPE "<eSearchResult><ERROR>"));
        text_add_xml(out, text, false);
        buf_add(out, STR("</ERROR></eSearchResult>\n"));
    }
    return buf_ok(out, err);
}

static bool lost_search(struct http_call *call, struct error *err)
{
    if (!wants_json(call))
        return search_error(call, entrez_lost_query(call), err);
    call_respond(call, 200, ENTREZ_JSON, STR("{\"esearchresult\":{\"ERROR\":\""));
    buf_add(&call->response, entrez_lost_query(call));
    buf_add(&call->response, STR("\"}}"));
    return buf_ok(&call->response, err);
}

/* reldate=7: the last seven days, today included. */
static bool take_dates(const struct sim_world *world, const struct http_call *call,
                       struct view_query *query)
{
    const int64_t zone_us = world_options_of(world)->pubmed_zone_us;
    struct str mindate = call_param(call, STR("mindate"));
    struct str maxdate = call_param(call, STR("maxdate"));
    size_t days = 0;

    if (!page_param_number(call, STR("reldate"), &days) || days > 100000)
        return false;
    if (days > 0) {
        struct buf from, to;

        buf_init(&from, call->arena, 64);
        buf_init(&to, call->arena, 64);
        api_date_add_slashed(&from, call->now_us + zone_us - (int64_t)days * US_PER_DAY);
        api_date_add_slashed(&to, call->now_us + zone_us);
        mindate = buf_str(&from);
        maxdate = buf_str(&to);
    }
    if (mindate.len == 0 || maxdate.len == 0)
        return true; /* either needs the other */
    return entrez_dates_parse(call_param(call, STR("datetype")), mindate, maxdate, zone_us, query);
}

static bool take_search(const struct sim_world *world, const struct http_call *call,
                        struct search *search)
{
    *search = (struct search){ .query = view_query_all(ORDER_CREATED, VIEW_LIVE),
                               .term = call_param(call, STR("term")),
                               .retmax = RETMAX_PRESET };
    search->query.descending = true; /* the newest first */
    if (!page_param_number(call, STR("retstart"), &search->retstart) ||
        !page_param_number(call, STR("retmax"), &search->retmax))
        return false;
    search->clamped = search->retmax > ENTREZ_CAP;
    if (search->clamped)
        search->retmax = ENTREZ_CAP;
    if (search->retstart + search->retmax > ENTREZ_CAP && search->retstart < ENTREZ_CAP)
        search->retmax = ENTREZ_CAP - search->retstart;
    if (!entrez_term_parse(search->term, world_options_of(world)->pubmed_zone_us, ENTREZ_UID_BASE,
                           &search->query) ||
        !take_dates(world, call, &search->query))
        return false;
    for (int i = 0; i < ORDER_COUNT; i++) {
        if (search->query.ranges[i].from_us != INT64_MIN) {
            search->query.order = (enum view_order)i;
            break;
        }
    }
    return true;
}

static bool run_search(struct sim_world *world, struct http_call *call, struct search *search,
                       struct world_page *page, struct error *err)
{
    const size_t skip = page_skip(call, search->retstart, search->retmax > 0 ? search->retmax : 1);
    struct world_name name = { 0 };

    if (!world_page(page_at(world, call), &search->query,
                    (struct world_part){ skip, search->retmax }, page, err))
        return false;
    if (!str_eq(call_param(call, STR("usehistory")), STR("y")))
        return true;
    if (call_has_param(call, STR("WebEnv")))
        (void)entrez_webenv_parse(call, call_param(call, STR("WebEnv")), &name.name);
    if (!world_keep(page_at(world, call), &search->query, 0, &name, err))
        return false;
    search->query_key = name.number;
    search->webenv = entrez_webenv(call, name.name);
    return true;
}

static void add_uids(struct http_call *call, const struct world_page *page, struct str before,
                     struct str behind, struct str between)
{
    const size_t count = page_count(call, page->count);

    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_add(&call->response, between);
        buf_add(&call->response, before);
        text_add_number(&call->response, (uint64_t)ENTREZ_UID_BASE + page->hits[i].record);
        buf_add(&call->response, behind);
    }
}

static void search_json(struct http_call *call, const struct search *search,
                        const struct world_page *page)
{
    struct buf *out = page_begin(call, ENTREZ_JSON);

    buf_printf(out,
               "{\"header\":{\"type\":\"esearch\",\"version\":\"0.3\"},\"esearchresult\":{"
               "\"count\":\"%zu\",\"retmax\":\"%zu\",\"retstart\":\"%zu\",",
               page_total(call, page->total), page->count, search->retstart);
    if (search->webenv.len > 0)
        buf_printf(out, "\"querykey\":\"%u\",\"webenv\":\"%.*s\",", search->query_key,
                   STR_ARG(search->webenv));
    buf_add(out, STR("\"idlist\":["));
    add_uids(call, page, STR("\""), STR("\""), STR(","));
    buf_add(out, STR("],\"translationset\":[],\"querytranslation\":\""));
    text_add_json(out, search->term, JSON_PLAIN);
    buf_add_char(out, '"');
    if (page->total == 0)
        buf_add(out, STR(",\"errorlist\":{\"phrasesnotfound\":[],\"fieldsnotfound\":[]}"));
    if (page->total == 0 || search->clamped) {
        buf_add(out, STR(",\"warninglist\":{\"phrasesignored\":[],\"quotedphrasesnotfound\":[],"
                         "\"outputmessages\":[\""));
        buf_add(out, page->total == 0 ? STR("No items found.") : STR("Restrictions achieved"));
        buf_add(out, STR("\"]}"));
    }
    buf_add(out, STR("}}\n"));
}

static void search_xml(struct http_call *call, const struct search *search,
                       const struct world_page *page)
{
    struct buf *out = page_begin(call, ENTREZ_XML);

    buf_printf(out,
               ENTREZ_PROLOG SEARCH_DOCTYPE "<eSearchResult><Count>%zu</Count><RetMax>%zu</RetMax>"
                                            "<RetStart>%zu</RetStart>",
               page_total(call, page->total), page->count, search->retstart);
    if (search->webenv.len > 0)
        buf_printf(out, "<QueryKey>%u</QueryKey><WebEnv>%.*s</WebEnv>", search->query_key,
                   STR_ARG(search->webenv));
    if (page->count > 0) {
        buf_add(out, STR("<IdList>\n"));
        add_uids(call, page, STR("<Id>"), STR("</Id>\n"), STR(""));
        buf_add(out, STR("</IdList>"));
    } else {
        buf_add(out, STR("<IdList/>"));
    }
    buf_add(out, STR("<TranslationSet/><QueryTranslation>"));
    text_add_xml(out, search->term, false);
    buf_add(out, STR("</QueryTranslation>"));
    if (page->total == 0)
        buf_add(out, STR("<ErrorList><PhraseNotFound>all</PhraseNotFound></ErrorList>"));
    if (page->total == 0 || search->clamped)
        buf_printf(out, "<WarningList><OutputMessage>%s</OutputMessage></WarningList>",
                   page->total == 0 ? "No items found." : "Restrictions achieved");
    buf_add(out, STR("</eSearchResult>\n"));
}

static bool esearch(struct sim_world *world, struct http_call *call, struct error *err)
{
    struct search search;
    struct world_page page;
    bool found = true;

    if (call->content_fault == CONTENT_FAULT_BODY_ERROR)
        return search_error(call,
                            STR("Search Backend failed: Couldn't resolve #exLinkSrv2, "
                                "the address table is empty."),
                            err);
    if (!take_search(world, call, &search))
        return search_error(call, STR("Can't run executor"), err);
    if (search.retstart > ENTREZ_CAP - 1)
        return search_error(
            call,
            STR("Search Backend failed: Exception:\n'retstart' cannot be larger than 9998. For "
                "PubMed, ESearch can only retrieve the first 9,999 records matching the query. To "
                "obtain more than 9,999 PubMed records, consider using EDirect that contains "
                "additional logic to batch PubMed search results automatically so that an "
                "arbitrary number can be retrieved. For details see "
                "https://www.ncbi.nlm.nih.gov/books/NBK25499/"),
            err);
    if (search.term.len == 0 && call_has_param(call, STR("query_key"))) {
        if (!entrez_kept(world, call, (struct world_part){ search.retstart, search.retmax }, &page,
                         &found, err))
            return false;
        if (!found)
            return lost_search(call, err);
    } else if (search.term.len == 0) {
        return search_error(call, STR("Empty term and query_key - nothing todo"), err);
    } else if (!run_search(world, call, &search, &page, err)) {
        return false;
    }
    call->confirmable = search.retstart + page.count >= page.total;
    if (wants_json(call))
        search_json(call, &search, &page);
    else
        search_xml(call, &search, &page);
    return buf_ok(&call->response, err);
}

/* ---- all ---- */

static bool too_long(struct http_call *call, struct error *err)
{
    call_respond(
        call, 414, STR("text/html; charset=utf-8"),
        STR("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML "
            "1.0 Strict//EN\"\n  \"http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd\">\n<html "
            "xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\" xml:lang=\"en\">\n<head>\n<title>"
            "Submitted URI too large!</title>\n</head>\n<body>\n<h1>Submitted URI too large!</h1>\n"
            "<p>The length of the requested URL exceeds the capacity limit for this server. The "
            "request cannot be processed.</p>\n<h2>Error 414</h2>\n</body>\n</html>\n"));
    return buf_ok(&call->response, err);
}

static bool unknown_db(struct http_call *call, struct str db, struct error *err)
{
    struct buf text;

    buf_init(&text, call->arena, 256);
    buf_add(&text, STR("Invalid db name specified: "));
    for (size_t i = 0; i < db.len && i < 64; i++) {
        const char c = db.data[i];

        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))
            buf_add_char(&text, c);
    }
    return search_error(call, buf_str(&text), err);
}

bool protocol_entrez(struct sim_world *world, struct http_call *call, struct error *err)
{
    static const struct {
        struct str name;
        bool (*respond)(struct sim_world *, struct http_call *, struct error *);
    } tools[] = {
        { STR_INIT("/esearch.fcgi"), esearch },
        { STR_INIT("/efetch.fcgi"), entrez_efetch },
        { STR_INIT("/esummary.fcgi"), entrez_esummary },
        { STR_INIT("/epost.fcgi"), entrez_epost },
    };
    const struct str path = str_slice(call->path, STR("/entrez/eutils").len, call->path.len);
    const struct str db = call_param(call, STR("db"));
    const bool has_key = call_has_param(call, STR("api_key"));

    call_add_header(call, STR("X-RateLimit-Limit"), has_key ? STR("10") : STR("3"));
    call_add_header(call, STR("X-RateLimit-Remaining"), has_key ? STR("9") : STR("2"));
    call_add_header(call, STR("Access-Control-Allow-Origin"), STR("*"));
    if (call->query.len > URI_MAX)
        return too_long(call, err);
    if (db.len > 0 && !str_eq(db, STR("pubmed")))
        return unknown_db(call, db, err);
    for (size_t i = 0; i < ARRAY_LEN(tools); i++) {
        if (str_eq(tools[i].name, path))
            return tools[i].respond(world, call, err);
    }
    call_respond(call, 404, STR("text/html"), STR("<html><body>Not Found</body></html>\n"));
    return buf_ok(&call->response, err);
}
