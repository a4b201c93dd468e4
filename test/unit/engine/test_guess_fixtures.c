/* What `source new` guesses from the recorded first pages of all providers, compared with what is
 * right. The right paths were written down by hand from ../shared/PROVIDERS.md and the shipped
 * sources. They are compared by what they find: the same nodes for items, the same texts for ids,
 * dates, totals and tokens.
 *
 * A part that an answer does not have (NULL) is right when nothing is guessed for it. Such parts
 * are easy, so the share of those that are there is demanded, too.
 */
#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "data/jsonpath.h"
#include "data/link_header.h"
#include "data/saved_response.h"
#include "data/xml.h"
#include "engine/guess/guess.h"
#include "spec/check.h"
#include "test.h"

enum { PARTS = 5, RIGHT_PERCENT_MIN = 80 };
static const char *const PART_NAMES[PARTS] = { "items", "id", "date", "total", "next" };

static const struct page {
    const char *file, *url;
    const char *items;
    const char *id;   /* "a + b": an id of two parts */
    const char *date; /* "a | b": either of them */
    const char *total;
    const char *next; /* "token PATH", "url PATH", "offset PARAM", "page PARAM"; without PARAM: in
                         the path */
} pages[] = {
    { "arxiv/feed-b.xml",
      "https://export.arxiv.org/api/query?search_query=all:attention&start=0&max_results=3",
      "/a:feed/a:entry", "a:id", "a:updated", "/a:feed/s:totalResults", "offset start" },
    { "arxiv/oai-listrecords-2014.xml",
      "http://export.arxiv.org/"
      "oai2?verb=ListRecords&metadataPrefix=oai_dc&from=2014-12-24&until=2014-12-25",
      "/o:OAI-PMH/o:ListRecords/o:record", "o:header/o:identifier", "o:header/o:datestamp", NULL,
      "token /o:OAI-PMH/o:ListRecords/o:resumptionToken" },
    { "arxiv/oai-listrecords.xml",
      "http://export.arxiv.org/"
      "oai2?metadataPrefix=arXiv&from=2015-01-01&until=2015-01-03&verb=ListRecords",
      "/o:OAI-PMH/o:ListRecords/o:record", "o:header/o:identifier", "o:header/o:datestamp", NULL,
      "token /o:OAI-PMH/o:ListRecords/o:resumptionToken" },
    { "arxiv/query-0-10.xml",
      "https://export.arxiv.org/api/"
      "query?search_query=testing&id_list=&sortBy=relevance&sortOrder=descending&start=0&max_"
      "results=10",
      "/a:feed/a:entry", "a:id", "a:updated", "/a:feed/s:totalResults", "offset start" },
    { "arxiv/query-0-100.xml",
      "https://export.arxiv.org/api/"
      "query?search_query=testing&id_list=&sortBy=relevance&sortOrder=descending&start=0&max_"
      "results=100",
      "/a:feed/a:entry", "a:id", "a:updated", "/a:feed/s:totalResults", "offset start" },
    { "biorxiv/biorxiv-details-100.json",
      "https://api.biorxiv.org/details/biorxiv/2024-01-01/2024-12-31/0", "$.collection",
      "$.doi + $.version", "$.date", "$.messages[0].total", "offset" },
    { "biorxiv/biorxiv-details-30.json",
      "https://api.biorxiv.org/details/biorxiv/2026-08-01/2026-08-05/0", "$.collection",
      "$.doi + $.version", "$.date", "$.messages[0].total", "offset" },
    { "biorxiv/biorxiv-details-funder.json",
      "https://api.biorxiv.org/details/biorxiv/2026-07-15/2026-07-18", "$.collection",
      "$.doi + $.version", "$.date", "$.messages[0].total", NULL },
    { "biorxiv/medrxiv-details-30.json",
      "https://api.biorxiv.org/details/medrxiv/2026-08-01/2026-08-05/0", "$.collection",
      "$.doi + $.version", "$.date", "$.messages[0].total", "offset" },
    { "clinicaltrials/page-total.json", "https://clinicaltrials.gov/api/v2/studies?countTotal=true",
      "$.studies", "$.protocolSection.identificationModule.nctId",
      "$.protocolSection.statusModule.lastUpdatePostDateStruct.date", "$.totalCount",
      "token $.nextPageToken" },
    { "clinicaltrials/search_melanoma_recruiting_limit3_20260811.json",
      "https://clinicaltrials.gov/api/v2/"
      "studies?query.cond=melanoma&filter.overallStatus=RECRUITING&countTotal=true&pageSize=3&"
      "fields=NCTId",
      "$.studies", "$.protocolSection.identificationModule.nctId", NULL, "$.totalCount",
      "token $.nextPageToken" },
    { "clinicaltrials/search_phelan_limit5_20260811.json",
      "https://clinicaltrials.gov/api/v2/"
      "studies?query.cond=Phelan-McDermid+Syndrome&countTotal=true&pageSize=5&fields=NCTId",
      "$.studies", "$.protocolSection.identificationModule.nctId", NULL, "$.totalCount",
      "token $.nextPageToken" },
    { "crossref/members-rows2.json", "https://api.crossref.org/members?rows=2", "$.message.items",
      "$.id", NULL, "$.message['total-results']", NULL },
    { "crossref/works-created-date-solr-cursor.json",
      "https://api.crossref.org/"
      "works?cursor=*&filter=from-created-date:2018-01-04,until-created-date:2018-01-04&mailto=me@"
      "example.org&rows=25",
      "$.message.items", "$.DOI", "$.indexed.timestamp | $.indexed['date-time']",
      "$.message['total-results']", "token $.message['next-cursor']" },
    { "crossref/works-cursor-1.json", "https://api.crossref.org/works?query=widget&cursor=%2A",
      "$.message.items", "$.DOI", "$.indexed.timestamp | $.indexed['date-time']",
      "$.message['total-results']", "token $.message['next-cursor']" },
    { "crossref/works-index-date-window.json",
      "https://api.crossref.org/members/1988/"
      "works?filter=from-index-date%3A2023-02-06%2Cuntil-index-date%3A2023-02-14",
      "$.message.items", "$.DOI", "$.indexed.timestamp | $.indexed['date-time']",
      "$.message['total-results']", NULL },
    { "crossref/works-query-rows2.json", "https://api.crossref.org/works?query=ecology&rows=2",
      "$.message.items", "$.DOI", "$.indexed.timestamp | $.indexed['date-time']",
      "$.message['total-results']", NULL },
    { "crossref/works-rows100-big.json",
      "https://api.crossref.org/funders/10.13039/100000001/"
      "works?filter=type%3Ajournal-article&rows=100&query.container-title=engineering",
      "$.message.items", "$.DOI", "$.indexed.timestamp | $.indexed['date-time']",
      "$.message['total-results']", NULL },
    { "crossref/works-select.json", "https://api.crossref.org/works?select=DOI,title",
      "$.message.items", "$.DOI", NULL, "$.message['total-results']", NULL },
    { "datacite/dois-2020.json",
      "https://api.datacite.org/dois?page%5Bsize%5D=5&page%5Bnumber%5D=1", "$.data", "$.id",
      "$.attributes.updated", "$.meta.total", "url $.links.next" },
    { "datacite/dois-cursor-era.json", "https://api.datacite.org/dois?page[cursor]=1&page[size]=50",
      "$.data", "$.id", "$.attributes.updated", "$.meta.total", "url $.links.next" },
    { "datacite/dois-date-range.json",
      "https://api.datacite.org/dois?created=2023,2024&sort=-created&page[size]=10", "$.data",
      "$.id", "$.attributes.updated", "$.meta.total", "url $.links.next" },
    { "datacite/dois-exact.json", "https://api.datacite.org/dois?query=id:x", "$.data", "$.id",
      "$.attributes.updated", "$.meta.total", NULL },
    { "datacite/dois-list.json", "https://api.datacite.org/dois", "$.data", "$.id",
      "$.attributes.updated", "$.meta.total", "url $.links.next" },
    { "datacite/dois-page.json",
      "https://api.datacite.org/dois?page%5Bsize%5D=15&page%5Bnumber%5D=1", "$.data", "$.id",
      "$.attributes.updated", "$.meta.total", "url $.links.next" },
    { "datacite/dois-updated-query.json",
      "https://api.stage.datacite.org/"
      "dois?affiliation=true&exclude_registration_agencies=true&page%5Bnumber%5D=0&page%5Bsize%5D="
      "25&query=updated:%5B2018-01-04T00:00:00Z%20TO%202018-08-05T23:59:59Z%5D",
      "$.data", "$.id", "$.attributes.updated", "$.meta.total", "url $.links.next" },
    { "datacite/oai-page1.xml",
      "http://oai.datacite.org/"
      "oai?verb=ListRecords&metadataPrefix=oai_dc&from=2012-12-19T00:00:00Z&until=2012-12-21T00:00:"
      "00Z",
      "/o:OAI-PMH/o:ListRecords/o:record", "o:header/o:identifier", "o:header/o:datestamp",
      "/o:OAI-PMH/o:ListRecords/o:resumptionToken/@completeListSize",
      "token /o:OAI-PMH/o:ListRecords/o:resumptionToken" },
    { "doaj/articles-2026.json",
      "https://doaj.org/api/search/articles/attention%20mechanism?pageSize=3", "$.results", "$.id",
      "$.last_updated", "$.total", "url $.next" },
    { "doaj/articles-30.json",
      "https://doaj.org/api/v2/search/articles/"
      "Pinus%20contorta?page=1&pageSize=30&sort=year%3Adesc",
      "$.results", "$.id", "$.last_updated", "$.total", "url $.next" },
    { "doaj/articles-page1.json",
      "https://doaj.org/api/v2/search/articles/license:CC-BY?page=1&pageSize=10", "$.results",
      "$.id", "$.last_updated", "$.total", "url $.next" },
    { "doaj/journals-page1.json",
      "https://doaj.org/api/v2/search/journals/bibjson.keywords:heritage?page=1&pageSize=10",
      "$.results", "$.id", "$.last_updated", "$.total", "url $.next" },
    { "europepmc/citations-page1.json",
      "https://www.ebi.ac.uk/europepmc/webservices/rest/MED/15723116/citations/1/json",
      "$.citationList.citation", "$.source + $.id", NULL, "$.hitCount", "page" },
    { "europepmc/search-2026.json",
      "https://www.ebi.ac.uk/europepmc/webservices/rest/search?query=tuberculosis&format=json",
      "$.resultList.result", "$.source + $.id", NULL, "$.hitCount", "token $.nextCursorMark" },
    { "europepmc/search-b.json",
      "https://www.ebi.ac.uk/europepmc/webservices/rest/search?query=attention&format=json",
      "$.resultList.result", "$.source + $.id", NULL, "$.hitCount", "token $.nextCursorMark" },
    { "europepmc/search-core.json",
      "https://www.ebi.ac.uk/europepmc/webservices/rest/"
      "search?query=cancer&resultType=core&format=json",
      "$.resultList.result", "$.source + $.id", NULL, "$.hitCount", "token $.nextCursorMark" },
    { "europepmc/search-idlist.json",
      "https://www.ebi.ac.uk/europepmc/webservices/rest/"
      "search?query=cancer&resultType=idlist&format=json",
      "$.resultList.result", "$.source + $.id", NULL, "$.hitCount", "token $.nextCursorMark" },
    { "europepmc/search-lite.json",
      "https://www.ebi.ac.uk/europepmc/webservices/rest/search?query=cancer&format=json",
      "$.resultList.result", "$.source + $.id", NULL, "$.hitCount", "token $.nextCursorMark" },
    { "europepmc/search.xml",
      "https://www.ebi.ac.uk/europepmc/webservices/rest/search?query=cancer&format=xml",
      "/responseWrapper/resultList/result", "source + id", NULL, "/responseWrapper/hitCount",
      "token /responseWrapper/nextCursorMark" },
    { "europepmc/walk-page1.json",
      "https://www.ebi.ac.uk/europepmc/webservices/rest/"
      "search?query=cancer&pageSize=100&cursorMark=*&format=json",
      "$.resultList.result", "$.source + $.id", NULL, "$.hitCount", "token $.nextCursorMark" },
    { "oai/dataverse-deleted-page1.xml",
      "http://dataverse.scholarsportal.info/dvn/"
      "OAIHandler?verb=ListRecords&metadataPrefix=oai_dc&from=2015-04-21&until=2015-04-22",
      "/o:OAI-PMH/o:ListRecords/o:record", "o:header/o:identifier", "o:header/o:datestamp",
      "/o:OAI-PMH/o:ListRecords/o:resumptionToken/@completeListSize",
      "token /o:OAI-PMH/o:ListRecords/o:resumptionToken" },
    { "oai/mit-ids-page1.xml",
      "https://dspace.mit.edu/oai/"
      "request?metadataPrefix=oai_dc&from=2022-01-01&until=2022-01-10&set=hdl_1721.1_49432&verb="
      "ListIdentifiers",
      "/o:OAI-PMH/o:ListIdentifiers/o:header", "o:identifier", "o:datestamp",
      "/o:OAI-PMH/o:ListIdentifiers/o:resumptionToken/@completeListSize",
      "token /o:OAI-PMH/o:ListIdentifiers/o:resumptionToken" },
    { "oai/noaa-datestamp-no-z.xml",
      "http://data.nodc.noaa.gov/cgi-bin/"
      "oai-pmh?verb=ListRecords&metadataPrefix=oai_dc&from=2015-01-10T00:00:00Z&until=2015-01-"
      "12T00:00:00Z",
      "/o:OAI-PMH/o:ListRecords/o:record", "o:header/o:identifier", "o:header/o:datestamp", NULL,
      "token /o:OAI-PMH/o:ListRecords/o:resumptionToken" },
    { "oai/udel-tz-shift-page01.xml",
      "http://udspace.udel.edu/dspace-oai/"
      "request?verb=ListRecords&metadataPrefix=oai_dc&from=2007-10-09T00:00:00Z&until=2007-10-"
      "11T00:00:00Z",
      "/o:OAI-PMH/o:ListRecords/o:record", "o:header/o:identifier", "o:header/o:datestamp",
      "/o:OAI-PMH/o:ListRecords/o:resumptionToken/@completeListSize",
      "token /o:OAI-PMH/o:ListRecords/o:resumptionToken" },
    { "oai/zenodo-listrecords.xml",
      "https://zenodo.org/"
      "oai2d?verb=ListRecords&from=2026-04-01&until=2026-04-02&metadataPrefix=oai_dc",
      "/o:OAI-PMH/o:ListRecords/o:record", "o:header/o:identifier", "o:header/o:datestamp",
      "/o:OAI-PMH/o:ListRecords/o:resumptionToken/@completeListSize",
      "token /o:OAI-PMH/o:ListRecords/o:resumptionToken" },
    { "openalex/works-cited.json",
      "https://api.openalex.org/"
      "works?filter=cites%3AW3046863325%7CW3045921891&per-page=200&mailto=me@example.org&cursor=%"
      "2A",
      "$.results", "$.id", "$.updated_date", "$.meta.count", "token $.meta.next_cursor" },
    { "openalex/works-cursor-1.json",
      "https://api.openalex.org/"
      "works?filter=openalex%3AW3045921891%7CW3046863325&per_page=200&cursor=%2A&api_key=abc",
      "$.results", "$.id", "$.updated_date", "$.meta.count", "token $.meta.next_cursor" },
    { "openalex/works-cursor-200.json",
      "https://api.openalex.org/"
      "works?filter=cited_by%3AW3046863325%7CW3045921891&per-page=200&mailto=me@example.org&cursor="
      "%2A",
      "$.results", "$.id", "$.updated_date", "$.meta.count", "token $.meta.next_cursor" },
    { "openalex/works-cursor-pubdate.json", "https://api.openalex.org/works?per_page=3&cursor=*",
      "$.results", "$.id", "$.updated_date", "$.meta.count", "token $.meta.next_cursor" },
    { "openalex/works-perpage1.json",
      "https://api.openalex.org/"
      "works?filter=cites%3AW3046863325%7CW3045921891&per-page=1&mailto=me@example.org",
      "$.results", "$.id", "$.updated_date", "$.meta.count", "page page" },
    { "pubmed/esearch-edat-reldate.xml",
      "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/"
      "esearch.fcgi?api_key=abc&datetype=edat&db=pubmed&reldate=90&retmax=100000&retmode=xml",
      "/eSearchResult/IdList/Id", ".", NULL, "/eSearchResult/Count", "offset retstart" },
    { "pubmed/esearch-json.json",
      "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/"
      "esearch.fcgi?db=pubmed&term=tuberculosis&retmode=json&retmax=25",
      "$.esearchresult.idlist", "$", NULL, "$.esearchresult.count", "offset retstart" },
    { "pubmed/esearch1.xml",
      "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/esearch.fcgi?db=pubmed&term=biopython",
      "/eSearchResult/IdList/Id", ".", NULL, "/eSearchResult/Count", "offset retstart" },
    { "pubmed/esearch2.xml",
      "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/"
      "esearch.fcgi?db=pubmed&term=cancer&reldate=60&datetype=edat&retmax=100&usehistory=y",
      "/eSearchResult/IdList/Id", ".", NULL, "/eSearchResult/Count", "offset retstart" },
    { "pubmed/pmc-oai-page01.xml",
      "http://www.ncbi.nlm.nih.gov/pmc/oai/"
      "oai.cgi?verb=ListRecords&metadataPrefix=oai_dc&from=2014-12-24&until=2014-12-25",
      "/o:OAI-PMH/o:ListRecords/o:record", "o:header/o:identifier", "o:header/o:datestamp", NULL,
      "token /o:OAI-PMH/o:ListRecords/o:resumptionToken" },
    { "semanticscholar/author-papers-1.json",
      "https://api.semanticscholar.org/graph/v1/author/1723755/"
      "papers?fields=title&offset=0&limit=100",
      "$.data", "$.paperId", NULL, NULL, "offset offset" },
    { "semanticscholar/bulk-1.json",
      "https://api.semanticscholar.org/graph/v1/paper/search/"
      "bulk?query=kubernetes&fields=title&offset=0&limit=100",
      "$.data", "$.paperId", NULL, "$.total", "token $.token" },
    { "semanticscholar/search-page1.json",
      "https://api.semanticscholar.org/graph/v1/paper/"
      "search?query=turing&fields=title&offset=0&limit=100",
      "$.data", "$.paperId", NULL, "$.total", "offset offset" },
};

static const struct xml_namespace NAMESPACES[] = {
    { STR_INIT("o"), STR_INIT("http://www.openarchives.org/OAI/2.0/") },
    { STR_INIT("a"), STR_INIT("http://www.w3.org/2005/Atom") },
    { STR_INIT("s"), STR_INIT("http://a9.com/-/spec/opensearch/1.1/") },
};

struct rig {
    struct arena arena;
    struct http_response reply;
    struct guess guess;
    struct json_doc json;
    struct xml_doc *xml;
};

struct place { /* a node of the answer */
    struct json_node json;
    struct xml_node xml;
};

struct place_list {
    struct place *items;
    size_t count;
};

struct prefixes { /* what the prefixes of a path mean: the test's, or those of the guess */
    struct xml_namespace items[GUESS_NAMESPACES_MAX];
    size_t count;
};

static struct prefixes prefixes_of(const struct guess *guess)
{
    struct prefixes out = { 0 };

    if (guess == NULL) {
        memcpy(out.items, NAMESPACES, sizeof(NAMESPACES));
        out.count = ARRAY_LEN(NAMESPACES);
        return out;
    }
    for (; out.count < guess->namespace_count; out.count++)
        out.items[out.count] = (struct xml_namespace){ guess->namespaces[out.count].prefix,
                                                       guess->namespaces[out.count].uri };
    return out;
}

/* ---- running paths ---- */

static void add_json(struct rig *rig, struct json_node node, struct place_list *list)
{
    struct place *slot = LIST_ADD(&rig->arena, list);

    REQUIRE(slot != NULL, "memory");
    slot->json = node;
}

static void run_json(struct rig *rig, struct str text, struct json_node from,
                     struct place_list *list)
{
    struct jsonpath_nodes nodes;
    const struct jsonpath *path;
    struct json_iter it;
    struct error err;

    REQUIRE_OK(jsonpath_compile(&rig->arena, text, &path, NULL, &err), err);
    REQUIRE_OK(jsonpath_run(path, &rig->arena, (struct jsonpath_target){ &rig->json, from, NULL },
                            &nodes, &err),
               err);
    for (size_t i = 0; i < nodes.count; i++) {
        if (json_type(&rig->json, nodes.items[i]) != JSON_ARRAY) {
            add_json(rig, nodes.items[i], list);
            continue;
        }
        for (it = json_each(&rig->json, nodes.items[i]); json_next(&it);)
            add_json(rig, it.value, list);
    }
}

static void run_xml(struct rig *rig, struct str text, const struct guess *of, struct xml_node from,
                    struct place_list *list)
{
    const struct prefixes prefixes = prefixes_of(of);
    struct xml_node_list nodes;
    struct xml_path *path;
    struct error err;

    REQUIRE_OK(xml_path_compile(&xml_module, text, prefixes.items, prefixes.count, &path, &err),
               err);
    REQUIRE_OK(xml_nodes(&xml_module, path, &rig->arena, from, &nodes, &err), err);
    for (size_t i = 0; i < nodes.count; i++) {
        struct place *slot = LIST_ADD(&rig->arena, list);

        REQUIRE(slot != NULL, "memory");
        slot->xml = nodes.nodes[i];
    }
    xml_path_close(&xml_module, path);
}

static struct place root_of(struct rig *rig)
{
    if (rig->guess.is_xml)
        return (struct place){ .xml = xml_root(&xml_module, rig->xml) };
    return (struct place){ .json = json_root(&rig->json) };
}

static struct place_list run(struct rig *rig, struct str path, const struct guess *of,
                             struct place from)
{
    struct place_list list = { 0 };

    if (rig->guess.is_xml)
        run_xml(rig, path, of, from.xml, &list);
    else
        run_json(rig, path, from.json, &list);
    return list;
}

/* The text of the first node that a path finds; data NULL: none. */
static struct str text_at(struct rig *rig, struct str path, const struct guess *of,
                          struct place from)
{
    struct place_list list = run(rig, path, of, from);
    struct xml_path *string;
    struct str text;
    struct error err;

    if (list.count == 0)
        return (struct str){ NULL, 0 };
    if (!rig->guess.is_xml) {
        if (json_type(&rig->json, list.items[0].json) != JSON_STRING)
            return json_raw(&rig->json, list.items[0].json);
        REQUIRE_OK(json_string(&rig->json, list.items[0].json, &rig->arena, &text, &err), err);
        return text;
    }
    REQUIRE_OK(xml_path_compile(&xml_module, STR("string()"), NULL, 0, &string, &err), err);
    REQUIRE_OK(xml_text(&xml_module, string, &rig->arena, list.items[0].xml, &text, &err), err);
    xml_path_close(&xml_module, string);
    return text;
}

static bool same_text(struct str a, struct str b)
{
    return (a.data == NULL) == (b.data == NULL) && str_eq(a, b);
}

/* ---- judging ---- */

static bool items_right(struct rig *rig, const struct page *page)
{
    const struct place_list right = run(rig, str_of(page->items), NULL, root_of(rig));
    struct place_list got;

    REQUIRE(right.count > 0, page->file); /* the table itself */
    if (rig->guess.items.path.len == 0)
        return false;
    got = run(rig, rig->guess.items.path, &rig->guess, root_of(rig));
    if (got.count != right.count)
        return false;
    for (size_t i = 0; i < got.count; i++) {
        if (got.items[i].json.at != right.items[i].json.at ||
            got.items[i].xml.node != right.items[i].xml.node)
            return false;
    }
    return true;
}

/* The two paths find the same texts in every right item, and something in some. */
static bool fields_same(struct rig *rig, const struct page *page, struct str right, struct str got)
{
    const struct place_list items = run(rig, str_of(page->items), NULL, root_of(rig));
    size_t found = 0;

    for (size_t i = 0; i < items.count; i++) {
        const struct str wanted = text_at(rig, right, NULL, items.items[i]);

        found += wanted.data != NULL;
        if (!same_text(wanted, text_at(rig, got, &rig->guess, items.items[i])))
            return false;
    }
    REQUIRE(found > 0, page->file);
    return true;
}

static struct str cut_at(struct str *rest, struct str separator)
{
    const size_t at = str_find(*rest, separator);
    const struct str part = str_slice(*rest, 0, at);

    *rest = str_slice(*rest, at + separator.len, rest->len);
    return part;
}

static bool id_right(struct rig *rig, const struct page *page)
{
    struct str second = str_of(page->id);
    const struct str first = cut_at(&second, STR(" + "));
    const struct guess *guess = &rig->guess;

    if (guess->id.path.len == 0 || (second.len > 0) != (guess->id_second.len > 0))
        return false;
    if (second.len == 0)
        return fields_same(rig, page, first, guess->id.path);
    return (fields_same(rig, page, first, guess->id.path) &&
            fields_same(rig, page, second, guess->id_second)) ||
           (fields_same(rig, page, second, guess->id.path) &&
            fields_same(rig, page, first, guess->id_second));
}

static bool date_right(struct rig *rig, const struct page *page)
{
    struct str rest = str_of(page->date);

    if (page->date == NULL || rig->guess.updated_at.path.len == 0)
        return page->date == NULL && rig->guess.updated_at.path.len == 0;
    while (rest.len > 0) {
        if (fields_same(rig, page, cut_at(&rest, STR(" | ")), rig->guess.updated_at.path))
            return true;
    }
    return false;
}

static bool total_right(struct rig *rig, const struct page *page)
{
    const struct str got = rig->guess.total.path;
    struct str wanted;

    if (page->total == NULL || got.len == 0)
        return page->total == NULL && got.len == 0;
    wanted = text_at(rig, str_of(page->total), NULL, root_of(rig));
    REQUIRE(wanted.data != NULL, page->file);
    return same_text(wanted, text_at(rig, got, &rig->guess, root_of(rig)));
}

static struct str linked(struct rig *rig)
{
    const struct http_header *header = NULL;
    struct str target = { 0 };
    struct error err;

    while (target.data == NULL &&
           (header = http_header_find(rig->reply.headers, STR("Link"), header)) != NULL)
        REQUIRE_OK(link_header_find(header->value, STR("next"), &target, &err), err);
    return target;
}

static bool next_right(struct rig *rig, const struct page *page)
{
    static const struct {
        struct str name;
        enum pagination_type type;
    } types[] = { { STR_INIT("token"), PAGINATION_TOKEN },
                  { STR_INIT("url"), PAGINATION_URL },
                  { STR_INIT("offset"), PAGINATION_OFFSET },
                  { STR_INIT("page"), PAGINATION_PAGE } };
    struct str what = str_of(page->next);
    const struct str name = str_cut(&what, ' ');
    const struct guess_page *got = &rig->guess.page;

    if (page->next == NULL)
        return got->type == PAGINATION_SINGLE;
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        if (str_eq(name, types[i].name) && got->type != types[i].type)
            return false;
    }
    if (got->type == PAGINATION_OFFSET || got->type == PAGINATION_PAGE)
        return str_eq(got->param, what);
    return same_text(text_at(rig, what, NULL, root_of(rig)),
                     got->next.path.len > 0
                         ? text_at(rig, got->next.path, &rig->guess, root_of(rig))
                         : linked(rig));
}

/* ---- the table ---- */

static void open_rig(struct rig *rig, const struct page *page)
{
    struct saved_response saved = { 0 };
    char path[256];
    struct error err;

    *rig = (struct rig){ 0 };
    arena_init(&rig->arena, (size_t)1 << 30);
    (void)snprintf(path, sizeof(path), "fixtures/%s.head", page->file);
    if (test_shared(path) != NULL)
        saved.head = test_read(test_shared(path));
    path[strlen(path) - strlen(".head")] = '\0';
    saved.text = test_read(test_shared(path));
    REQUIRE(saved.text.len > 0, page->file);
    REQUIRE_OK(saved_response_read(&saved, &rig->arena, &rig->reply, &err), err);
    REQUIRE_OK(guess_make(&rig->guess, &rig->arena,
                          &(struct guess_input){ .name = STR("demo"),
                                                 .url = str_of(page->url),
                                                 .reply = &rig->reply,
                                                 .xml = &xml_module },
                          &err),
               err);
    if (rig->guess.is_xml)
        REQUIRE_OK(xml_open(&xml_module, &rig->arena,
                            &(struct xml_source){ .bytes = rig->reply.body }, &rig->xml, &err),
                   err);
    else
        REQUIRE_OK(json_parse(&rig->json, &rig->arena, rig->reply.body, &err), err);
}

static void check_file(struct rig *rig, const struct page *page)
{
    struct fault_list faults;
    struct source source;
    struct error err;
    struct buf text;

    buf_init(&text, &rig->arena, (size_t)1 << 20);
    guess_write(&rig->guess, &text);
    fault_list_init(&faults, &rig->arena);
    CHECK(source_lint(&rig->arena, &xml_module, &(struct source_text){ .file = buf_str(&text) },
                      &faults, &source),
          page->file);
    if (!fault_list_ok(&faults, &err))
        test_note("%s: %s", page->file, err.text);
}

static const char *mark(bool is_right, bool is_there)
{
    return is_right ? (is_there ? "yes" : "-") : "WRONG";
}

TEST(first_pages_of_all_providers)
{
    size_t right[PARTS] = { 0 }, there[PARTS] = { 0 }, right_there[PARTS] = { 0 };
    size_t all_right = 0, all_there = 0, all_right_there = 0;
    struct rig rig;

    if (test_shared("fixtures") == NULL)
        TEST_SKIP("the fixtures are not here");
    test_note("%-62s %-6s %-6s %-6s %-6s %-6s", "- : not in the answer, and not guessed", "items",
              "id", "date", "total", "next");
    for (size_t i = 0; i < ARRAY_LEN(pages); i++) {
        const struct page *page = &pages[i];
        const bool has[PARTS] = { true, true, page->date != NULL, page->total != NULL,
                                  page->next != NULL };
        bool is_right[PARTS];

        open_rig(&rig, page);
        is_right[0] = items_right(&rig, page);
        is_right[1] = id_right(&rig, page);
        is_right[2] = date_right(&rig, page);
        is_right[3] = total_right(&rig, page);
        is_right[4] = next_right(&rig, page);
        check_file(&rig, page);
        test_note("%-62s %-6s %-6s %-6s %-6s %-6s", page->file, mark(is_right[0], has[0]),
                  mark(is_right[1], has[1]), mark(is_right[2], has[2]), mark(is_right[3], has[3]),
                  mark(is_right[4], has[4]));
        for (int j = 0; j < PARTS; j++) {
            right[j] += is_right[j];
            there[j] += has[j];
            right_there[j] += is_right[j] && has[j];
        }
        xml_close(&xml_module, rig.xml);
        arena_release(&rig.arena);
    }
    for (int j = 0; j < PARTS; j++) {
        test_note("%-6s right %zu of %zu; of those that are there, %zu of %zu", PART_NAMES[j],
                  right[j], ARRAY_LEN(pages), right_there[j], there[j]);
        all_right += right[j];
        all_there += there[j];
        all_right_there += right_there[j];
    }
    test_note("all: right %zu of %zu (%zu %%); of those that are there, %zu of %zu (%zu %%)",
              all_right, PARTS * ARRAY_LEN(pages), all_right * 100 / (PARTS * ARRAY_LEN(pages)),
              all_right_there, all_there, all_right_there * 100 / all_there);
    CHECK(all_right * 100 >= RIGHT_PERCENT_MIN * PARTS * ARRAY_LEN(pages), "80 % right");
    CHECK(all_right_there * 100 >= RIGHT_PERCENT_MIN * all_there, "80 % of those that are there");
}
