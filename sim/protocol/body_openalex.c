/* An OpenAlex work. updated_date has microseconds and no zone; created_date is a day at midnight.
 */
#include <inttypes.h>

#include "base/attr.h"
#include "base/instant.h"
#include "sim/protocol/body.h"
#include "sim/util/api_date.h"
#include "sim/util/text_out.h"
#include "sim/world/words.h"

static void add_string(struct buf *out, struct str text)
{
    buf_add_char(out, '"');
    text_add_json(out, text, JSON_PLAIN);
    buf_add_char(out, '"');
}

static void add_source(struct buf *out, uint64_t hash)
{
    const struct journal journal = words_journal(hash);

    buf_printf(out, "{\"id\":\"https://openalex.org/S%u\",\"display_name\":",
               100000000 + hash_below(hash, 99999999));
    add_string(out, journal.title);
    if (hash % 4 == 0)
        buf_add(out, STR(",\"issn_l\":null,\"issn\":null"));
    else
        buf_printf(out, ",\"issn_l\":\"%.*s\",\"issn\":[\"%.*s\",\"%.*s\"]", STR_ARG(journal.issn),
                   STR_ARG(journal.issn), STR_ARG(journal.eissn));
    buf_add(out, STR(",\"is_oa\":true,\"is_in_doaj\":false,\"is_core\":true,\"host_organization\":"
                     "\"https://openalex.org/P4310320595\",\"host_organization_name\":"));
    add_string(out, journal.publisher);
    buf_add(out, STR(",\"host_organization_lineage\":[\"https://openalex.org/P4310320595\"],"
                     "\"host_organization_lineage_names\":[],\"type\":\"journal\","
                     "\"raw_type\":null}"));
}

static void make_location(struct buf *out, uint64_t hash, uint32_t index)
{
    const uint32_t number = hash_below(hash, 99999999);

    buf_printf(out,
               "{\"id\":\"doi:10.1145/%u\",\"is_oa\":%s,\"landing_page_url\":"
               "\"https://doi.org/10.1145/%u\",\"pdf_url\":",
               number, index % 2 == 0 ? "true" : "false", number);
    if (index % 2 == 0)
        buf_printf(out, "\"https://dl.example.org/doi/pdf/10.1145/%u\"", number);
    else
        buf_add(out, STR("null"));
    buf_add(out, STR(",\"source\":"));
    if (index % 5 == 0)
        buf_add(out, STR("null"));
    else
        add_source(out, hash);
    if (index % 2 == 0)
        buf_add(out, STR(",\"license\":\"cc-by\",\"license_id\":"
                         "\"https://openalex.org/licenses/cc-by\""));
    else
        buf_add(out, STR(",\"license\":null,\"license_id\":null"));
    buf_add(out, STR(",\"version\":\"publishedVersion\",\"is_accepted\":true,\"is_published\":true,"
                     "\"raw_source_name\":"));
    add_string(out, words_journal(hash).title);
    buf_add_char(out, '}');
}

static void add_authorship(struct buf *out, uint64_t hash, const char *position)
{
    const struct person person = words_person(hash);
    const struct str place = words_place(hash_mix(hash));
    const uint32_t number = hash_below(hash, 99999999);
    const struct str country = words_country(hash);

    buf_printf(out,
               "{\"author_position\":\"%s\",\"author\":{\"id\":\"https://openalex.org/A50%08u\","
               "\"display_name\":\"",
               position, number);
    text_add_json(out, person.given, JSON_PLAIN);
    buf_add_char(out, ' ');
    text_add_json(out, person.family, JSON_PLAIN);
    buf_add(out, STR("\",\"orcid\":"));
    if (hash % 3 == 0) {
        buf_add(out, STR("null"));
    } else {
        buf_add(out, STR("\"https://orcid.org/"));
        words_orcid(out, hash);
        buf_add_char(out, '"');
    }
    buf_printf(
        out, "},\"institutions\":[{\"id\":\"https://openalex.org/I%u\",\"display_name\":", number);
    add_string(out, place);
    buf_printf(
        out,
        ",\"ror\":\"https://ror.org/0%07x\",\"country_code\":\"%.*s\",\"type\":"
        "\"education\",\"lineage\":[\"https://openalex.org/I%u\"]}],\"countries\":[\"%.*s\"],"
        "\"is_corresponding\":%s,\"raw_author_name\":\"",
        number, STR_ARG(country), number, STR_ARG(country), position[0] == 'f' ? "true" : "false");
    text_add_json(out, person.family, JSON_PLAIN);
    buf_add(out, STR("\",\"raw_affiliation_strings\":["));
    add_string(out, place);
    buf_add(out, STR("],\"affiliations\":[{\"raw_affiliation_string\":"));
    add_string(out, place);
    buf_printf(out, ",\"institution_ids\":[\"https://openalex.org/I%u\"]}]}", number);
}

static void make_authorships(struct buf *out, uint64_t hash, uint32_t index)
{
    const uint32_t count = index % 6;

    buf_add_char(out, '[');
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            buf_add_char(out, ',');
        add_authorship(out, hash_mix(hash + i),
                       i == 0           ? "first"
                       : i + 1 == count ? "last"
                                        : "middle");
    }
    buf_printf(out,
               "],\"institutions\":[],\"countries_distinct_count\":%u,"
               "\"institutions_distinct_count\":%u,\"corresponding_author_ids\":[",
               count > 0, count);
    if (index % 2 == 0)
        buf_add(out, STR("\"https://openalex.org/A5056946018\""));
    buf_add(out, STR("],\"corresponding_institution_ids\":["));
    if (index % 2 == 0)
        buf_add(out, STR("\"https://openalex.org/I23758234\""));
    buf_add_char(out, ']');
}

static void add_topic(struct buf *out, uint64_t hash)
{
    buf_printf(out, "{\"id\":\"https://openalex.org/T%u\",\"display_name\":\"",
               10000 + hash_below(hash, 4500));
    buf_add(out, words_keyword(hash));
    buf_add_char(out, ' ');
    buf_add(out, words_term(hash));
    buf_printf(out,
               "\",\"score\":0.%u,\"subfield\":{\"id\":\"https://openalex.org/subfields/1804\","
               "\"display_name\":\"Statistics, Probability and Uncertainty\"},\"field\":{\"id\":"
               "\"https://openalex.org/fields/18\",\"display_name\":\"Decision Sciences\"},"
               "\"domain\":{\"id\":\"https://openalex.org/domains/2\",\"display_name\":"
               "\"Social Sciences\"}}",
               900000 + hash_below(hash_mix(hash), 99999));
}

static void make_topics(struct buf *out, uint64_t hash, uint32_t index)
{
    const uint32_t count = 1 + index % 3;

    buf_add(out, STR(",\"primary_topic\":"));
    add_topic(out, hash_mix(hash));
    buf_add(out, STR(",\"topics\":["));
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            buf_add_char(out, ',');
        add_topic(out, hash_mix(hash + i));
    }
    buf_add(out, STR("],\"keywords\":["));
    for (uint32_t i = 0; i < count; i++) {
        const struct str word = words_term(hash_mix(hash - i));

        buf_printf(out,
                   "%s{\"id\":\"https://openalex.org/keywords/%.*s\",\"display_name\":\"%.*s\","
                   "\"score\":0.677065670490264%u}",
                   i > 0 ? "," : "", STR_ARG(word), STR_ARG(word), i);
    }
    buf_add(out, STR("],\"concepts\":["));
    for (uint32_t i = 0; i < count; i++) {
        const struct str word = words_term(hash_mix(hash - i));

        buf_printf(out,
                   "%s{\"id\":\"https://openalex.org/C%u\",\"wikidata\":"
                   "\"https://www.wikidata.org/wiki/Q%u\",\"display_name\":\"%.*s\",\"level\":%u,"
                   "\"score\":0.949191689491272}",
                   i > 0 ? "," : "", 41008148 + i, 14565201 + i, STR_ARG(word), i);
    }
    buf_add(out, STR("],\"mesh\":[]"));
}

static void make_funding(struct buf *out, uint64_t hash, uint32_t index)
{
    if (index % 3 == 0)
        buf_add(out, STR(",\"sustainable_development_goals\":[{\"score\":0.6200000047683716,"
                         "\"id\":\"https://metadata.un.org/sdg/4\",\"display_name\":"
                         "\"Quality Education\"}]"));
    else
        buf_add(out, STR(",\"sustainable_development_goals\":[]"));
    if (index % 2 == 0)
        buf_printf(out,
                   ",\"grants\":[{\"funder\":\"https://openalex.org/F4320334764\","
                   "\"funder_display_name\":\"Japan Society for the Promotion of Science\","
                   "\"award_id\":\"JPMJCR%u\"}],\"awards\":[],\"funders\":[{\"id\":"
                   "\"https://openalex.org/F4320334764\",\"display_name\":"
                   "\"Japan Society for the Promotion of Science\",\"ror\":"
                   "\"https://ror.org/00hhkn466\"}]",
                   hash_below(hash, 99999));
    else
        buf_add(out, STR(",\"grants\":[],\"awards\":[],\"funders\":[]"));
    buf_printf(out, ",\"has_content\":{\"pdf\":%s,\"grobid_xml\":%s}",
               index % 2 == 0 ? "true" : "false", index % 2 == 0 ? "true" : "false");
}

static void add_works(struct buf *out, uint64_t hash, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        buf_printf(out, "%s\"https://openalex.org/W%u\"", i > 0 ? "," : "",
                   2000000000 + hash_below(hash_mix(hash + i), 999999999));
}

static void make_references(struct buf *out, uint64_t hash, uint32_t index)
{
    const uint32_t count = index % 30;

    buf_printf(out, ",\"referenced_works_count\":%u,\"referenced_works\":[", count);
    add_works(out, hash, count);
    buf_add(out, STR("],\"related_works\":["));
    add_works(out, hash_mix(hash), 10);
    buf_add_char(out, ']');
}

/* The positions of a word in a text, unless it also occurs before `from`. */
static void add_places(struct buf *out, struct str text, struct str word, uint32_t from)
{
    const char *between = "";
    uint32_t place = 0;

    for (struct str rest = text; rest.len > 0; place++) {
        if (!str_eq(str_cut(&rest, ' '), word))
            continue;
        if (place < from)
            return;
        if (between[0] == '\0') {
            buf_add(out, from > 0 ? STR(",\"") : STR("\""));
            text_add_json(out, word, JSON_PLAIN);
            buf_add(out, STR("\":["));
        }
        buf_printf(out, "%s%u", between, place);
        between = ",";
    }
    buf_add_char(out, ']');
}

/* The abstract as an inverted index: each word with its positions. */
static void make_abstract(struct buf *out, uint64_t hash, uint32_t index)
{
    struct buf plain;
    uint32_t place = 0;

    if (index % 4 == 0) {
        buf_add(out, STR(",\"abstract_inverted_index\":null"));
        return;
    }
    buf_init(&plain, out->arena, 1 << 16);
    for (uint32_t i = 0; i < 1 + index % 12; i++) {
        words_sentence(&plain, hash_mix(hash + i));
        buf_add_char(&plain, ' ');
    }
    buf_add(out, STR(",\"abstract_inverted_index\":{"));
    for (struct str rest = buf_str(&plain); rest.len > 0; place++)
        add_places(out, buf_str(&plain), str_cut(&rest, ' '), place);
    buf_add_char(out, '}');
}

static const struct block_spec blocks[] = {
    { BLOCK_OPENALEX_LOCATION, 60, make_location },
    { BLOCK_OPENALEX_AUTHORSHIPS, 96, make_authorships },
    { BLOCK_OPENALEX_TOPICS, 96, make_topics },
    { BLOCK_OPENALEX_FUNDING, 36, make_funding },
    { BLOCK_OPENALEX_REFERENCES, 120, make_references },
    { BLOCK_OPENALEX_ABSTRACT, 128, make_abstract },
};
const struct block_table body_openalex_blocks = { blocks, ARRAY_LEN(blocks) };

static void add_names(struct body *body)
{
    const struct id id = body_id(body, ID_OPENALEX);
    const struct id doi = body_id(body, ID_CROSSREF);
    const bool has_doi = body->record_hash % 10 != 0;

    if (body->flaw != FLAW_NO_ID) {
        body_add(body, STR("\"id\":\""));
        body_add(body, id_str(&id));
        body_add(body, STR("\","));
    }
    body_add(body, STR("\"doi\":"));
    if (has_doi) {
        body_add(body, STR("\"https://doi.org/"));
        body_add(body, id_str(&doi));
        body_add(body, STR("\""));
    } else {
        body_add(body, STR("null"));
    }
    body_add(body, STR(",\"ids\":{"));
    if (body->flaw != FLAW_NO_ID) {
        body_add(body, STR("\"openalex\":\""));
        body_add(body, id_str(&id));
        body_add(body, STR("\","));
    }
    if (has_doi) {
        body_add(body, STR("\"doi\":\"https://doi.org/"));
        body_add(body, id_str(&doi));
        body_add(body, STR("\","));
    }
    if (body->record_hash % 4 == 0) {
        body_add(body, STR("\"pmid\":\"https://pubmed.ncbi.nlm.nih.gov/"));
        text_add_number(body->out, UINT64_C(30000000) + body->record);
        body_add(body, STR("\","));
    }
    body_add(body, STR("\"mag\":\""));
    text_add_number(body->out, UINT64_C(2000000000) + body->record);
    body_add(body, STR("\"}"));
}

static void add_published(struct body *body)
{
    const struct published published = corpus_published(body->corpus, body->record);

    const int year = published.year > 0 ? published.year : instant_to_civil(body->created_us).year;

    body_add(body, STR(",\"publication_year\":"));
    text_add_number(body->out, (uint64_t)year);
    body_add(body, STR(",\"publication_date\":\""));
    if (published.year > 0) {
        api_date_add_date(body->out, corpus_published_us(body->corpus, body->record));
    } else { /* an unknown month or day is written as the first */
        text_add_number(body->out, (uint64_t)year);
        body_add(body, STR("-01-01"));
    }
    body_add(body, STR("\""));
}

static void add_counts(struct body *body)
{
    const uint64_t hash = body_version_hash(body, 10);

    body_add(body, body->record_hash % 5 == 0
                       ? STR(",\"apc_list\":{\"value\":600,\"currency\":\"EUR\",\"value_usd\":647},"
                             "\"apc_paid\":{\"value\":600,\"currency\":\"EUR\",\"value_usd\":647}")
                       : STR(",\"apc_list\":null,\"apc_paid\":null"));
    body_add(body, STR(",\"fwci\":"));
    text_add_number(body->out, hash % 9);
    body_add(body, STR(".5078825,\"cited_by_count\":"));
    text_add_number(body->out, hash % 500 + body->ordinal);
    if (body->record_hash % 3 == 0)
        body_add(body, STR(",\"citation_normalized_percentile\":null,"
                           "\"cited_by_percentile_year\":null"));
    else
        body_add(body, STR(",\"citation_normalized_percentile\":{\"value\":0.71195145,"
                           "\"is_in_top_1_percent\":false,\"is_in_top_10_percent\":false},"
                           "\"cited_by_percentile_year\":{\"min\":89,\"max\":97}"));
    body_add(body, STR(",\"biblio\":{\"volume\":\"17\",\"issue\":null,\"first_page\":\""));
    text_add_number(body->out, body->record_hash % 900);
    body_add(body, STR("\",\"last_page\":null},\"counts_by_year\":[{\"year\":2025,"
                       "\"cited_by_count\":"));
    text_add_number(body->out, hash % 50);
    body_add(body, STR("}],\"is_retracted\":false,\"is_paratext\":false,\"is_xpac\":false"));
}

static void add_locations(struct body *body)
{
    const uint64_t hash = body_hash(body, 4);

    body_add(body, STR(",\"primary_location\":"));
    body_pick(body, BLOCK_OPENALEX_LOCATION, hash);
    body_add(body, STR(",\"locations_count\":1,\"locations\":["));
    body_pick(body, BLOCK_OPENALEX_LOCATION, hash);
    body_add(body, STR("],\"best_oa_location\":"));
    if (hash % 2 == 0)
        body_pick(body, BLOCK_OPENALEX_LOCATION, hash);
    else
        body_add(body, STR("null"));
    body_add(body, STR(",\"open_access\":{\"is_oa\":true,\"oa_status\":\"gold\",\"oa_url\":"
                       "\"https://example.org/oa.pdf\",\"any_repository_has_fulltext\":false}"));
}

static void add_dates(struct body *body)
{
    if (body->flaw == FLAW_NO_DATE)
        return;
    if (body->flaw == FLAW_BAD_DATE) {
        body_add(body, STR(",\"updated_date\":\"2026-02-30T99:99:99\",\"created_date\":\"soon\""));
        return;
    }
    body_add(body, STR(",\"updated_date\":\""));
    api_date_add_micros(body->out, body->at_us);
    body_add(body, STR("\",\"created_date\":\""));
    api_date_add_date(body->out, body->created_us);
    body_add(body, STR("T00:00:00\""));
}

void body_openalex(struct body *body)
{
    const uint64_t title = body_hash(body, 2);

    body_add(body, STR("{"));
    add_names(body);
    body_add(body, STR(",\"title\":\""));
    body_pick(body, BLOCK_TITLE_JSON, title);
    body_add(body, STR("\",\"display_name\":\""));
    body_pick(body, BLOCK_TITLE_JSON, title);
    body_add(body, STR("\""));
    add_published(body);
    body_add(body, STR(",\"language\":\"en\",\"type\":\"article\",\"indexed_in\":[\"crossref\"]"));
    add_locations(body);
    body_add(body, STR(",\"authorships\":"));
    body_pick(body, BLOCK_OPENALEX_AUTHORSHIPS, body_hash(body, 6));
    add_counts(body);
    body_pick(body, BLOCK_OPENALEX_TOPICS, body_version_hash(body, 7));
    body_pick(body, BLOCK_OPENALEX_FUNDING, body_hash(body, 8));
    body_pick(body, BLOCK_OPENALEX_REFERENCES, body_hash(body, 9));
    body_pick(body, BLOCK_OPENALEX_ABSTRACT, body_hash(body, 5));
    add_dates(body);
    body_add(body, STR("}"));
}
