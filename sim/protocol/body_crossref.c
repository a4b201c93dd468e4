/* A Crossref work. Slashes are escaped, as Crossref does; dates come as date-parts, date-time (to
 * the second) and timestamp (to the millisecond). A DOI is never deleted: what the corpus calls
 * deleted shows up here as retracted. */
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
    text_add_json(out, text, JSON_SLASHES);
    buf_add_char(out, '"');
}

static void make_journal(struct buf *out, uint64_t hash, uint32_t index)
{
    const struct journal journal = words_journal(hash);

    buf_add(out, STR("\"publisher\":"));
    add_string(out, journal.publisher);
    if (index % 4 != 0) {
        buf_add(out, STR(",\"container-title\":["));
        add_string(out, journal.title);
        buf_add(out, STR("],\"short-container-title\":["));
        add_string(out, journal.abbreviation);
        buf_add(out, STR("],\"ISSN\":[\""));
        buf_add(out, journal.issn);
        buf_add(out, STR("\",\""));
        buf_add(out, journal.eissn);
        buf_add(out, STR("\"],\"issn-type\":[{\"value\":\""));
        buf_add(out, journal.issn);
        buf_add(out, STR("\",\"type\":\"print\"},{\"value\":\""));
        buf_add(out, journal.eissn);
        buf_add(out, STR("\",\"type\":\"electronic\"}]"));
    }
    buf_add(out, STR(",\"content-domain\":{\"domain\":["));
    if (index % 3 == 0)
        buf_add(out, STR("\"link.springer.com\""));
    buf_add(out, STR("],\"crossmark-restriction\":false},\"source\":\"Crossref\",\"member\":\""));
    buf_add(out, journal.member);
    buf_add_char(out, '"');
    if (index % 5 != 0)
        buf_add(out, STR(",\"language\":\"en\""));
}

static void add_author(struct buf *out, uint64_t hash, uint32_t i)
{
    const struct person person = words_person(hash);

    buf_add_char(out, '{');
    if (hash % 4 == 0) {
        buf_add(out, STR("\"ORCID\":\"https:\\/\\/orcid.org\\/"));
        words_orcid(out, hash);
        buf_add(out, STR("\",\"authenticated-orcid\":"));
        buf_add(out, hash % 8 == 0 ? STR("true,") : STR("false,"));
    }
    buf_add(out, STR("\"given\":"));
    add_string(out, person.given);
    buf_add(out, STR(",\"family\":"));
    add_string(out, person.family);
    buf_add(out, i == 0 ? STR(",\"sequence\":\"first\",\"affiliation\":[")
                        : STR(",\"sequence\":\"additional\",\"affiliation\":["));
    if (hash % 3 != 0) {
        buf_add(out, STR("{\"name\":"));
        add_string(out, words_place(hash_mix(hash)));
        buf_add_char(out, '}');
    }
    buf_add(out, STR("],\"role\":[{\"role\":\"author\",\"vocabulary\":\"crossref\"}]}"));
}

static void make_authors(struct buf *out, uint64_t hash, uint32_t index)
{
    const uint32_t count = index % 10;

    if (count == 0)
        return; /* some works have none, and then not the member either */
    buf_add(out, STR(",\"author\":["));
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            buf_add_char(out, ',');
        add_author(out, hash_mix(hash + i), i);
    }
    buf_add_char(out, ']');
}

static void add_reference(struct buf *out, uint64_t hash, uint32_t i)
{
    buf_printf(out, "{\"key\":\"ref%u\"", i + 1);
    if (hash % 2 == 0)
        buf_printf(out, ",\"doi-asserted-by\":\"%s\",\"DOI\":\"10.1016\\/j.ref.%u\"",
                   hash % 4 == 0 ? "publisher" : "crossref", hash_below(hash, 99999999));
    buf_add(out, STR(",\"article-title\":\""));
    buf_add(out, words_term(hash));
    buf_add(out, STR(" and "));
    buf_add(out, words_keyword(hash_mix(hash)));
    buf_add(out, STR("\",\"author\":"));
    add_string(out, words_person(hash).family);
    buf_printf(out, ",\"volume\":\"%u\",\"year\":\"%u\",\"first-page\":\"%u\"",
               hash_below(hash, 90) + 1, 1980 + hash_below(hash_mix(hash), 46),
               hash_below(hash_mix(hash + 1), 900) + 1);
    if (hash % 3 == 0) {
        buf_add(out, STR(",\"journal-title\":"));
        add_string(out, words_journal(hash).abbreviation);
    }
    buf_add_char(out, '}');
}

static void make_references(struct buf *out, uint64_t hash, uint32_t index)
{
    const uint32_t count = index % 4 == 0 ? 0 : index % 24;

    buf_printf(out, ",\"reference-count\":%u,\"references-count\":%u", count, count);
    if (count == 0)
        return;
    buf_add(out, STR(",\"reference\":["));
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            buf_add_char(out, ',');
        add_reference(out, hash_mix(hash + i), i);
    }
    buf_add_char(out, ']');
}

/* JATS inside a JSON string, its entities escaped a second time. */
static void make_abstract(struct buf *out, uint64_t hash, uint32_t index)
{
    const uint32_t count = 2 + index % 16;
    struct buf plain, jats;

    if (index % 3 == 0)
        return;
    buf_init(&plain, out->arena, 1 << 16);
    buf_init(&jats, out->arena, 1 << 17);
    for (uint32_t i = 0; i < count; i++) {
        words_sentence(&plain, hash_mix(hash + i));
        buf_add_char(&plain, ' ');
    }
    buf_add(&jats, STR("<jats:title>Abstract</jats:title>\n               <jats:p>"));
    text_add_xml(&jats, buf_str(&plain), false);
    buf_add(&jats, STR("</jats:p>"));
    buf_add(out, STR(",\"abstract\":\""));
    text_add_json(out, buf_str(&jats), JSON_SLASHES | (index % 5 == 0 ? JSON_ASCII : 0));
    buf_add_char(out, '"');
}

/* Members that only some types of work have. */
static void make_kind(struct buf *out, uint64_t hash, uint32_t index)
{
    const uint32_t n = hash_below(hash, 90) + 1;

    switch (index % 8) {
    case 0:
        buf_printf(out,
                   ",\"type\":\"book-chapter\",\"publisher-location\":\"Berlin\\/Heidelberg\","
                   "\"ISBN\":[\"97814842908%02u\"],\"isbn-type\":[{\"type\":\"print\","
                   "\"value\":\"97814842908%02u\"}],\"edition-number\":\"%u\",\"page\":\"%u-%u\"",
                   n, n, n % 5 + 1, n, n + 12);
        break;
    case 1:
        buf_add(out, STR(",\"type\":\"posted-content\",\"subtype\":\"preprint\",\"posted\":{"
                         "\"date-parts\":[[2026,1,2]]},\"group-title\":\"Chemistry\","
                         "\"institution\":[{\"name\":\"ChemRxiv\",\"acronym\":[\"CR\"]}],"
                         "\"version\":{\"version\":\"v1\"}"));
        break;
    case 2:
        buf_add(out, STR(",\"type\":\"proceedings-article\",\"event\":{\"name\":\"AFRICON 2026\","
                         "\"start\":{\"date-parts\":[[2026,9,23]]},\"location\":\"Nairobi, Kenya\","
                         "\"end\":{\"date-parts\":[[2026,9,25]]}}"));
        break;
    case 3:
        buf_add(out, STR(",\"type\":\"dataset\",\"description\":\"A table.\",\"content-created\":{"
                         "\"date-parts\":[[2026,1]]},\"content-updated\":{\"date-parts\":["
                         "[2026,2,10]]}"));
        break;
    default:
        buf_printf(out,
                   ",\"type\":\"journal-article\",\"volume\":\"%u\",\"issue\":\"%02u\","
                   "\"journal-issue\":{\"issue\":\"%02u\"},\"page\":\"%u-%u\",\"update-policy\":"
                   "\"https:\\/\\/doi.org\\/10.1007\\/springer_crossmark_policy\",\"assertion\":[{"
                   "\"value\":\"%u November 2025\",\"order\":1,\"name\":\"first_online\","
                   "\"label\":\"First Online\",\"group\":{\"name\":\"ArticleHistory\","
                   "\"label\":\"Article History\"}}]",
                   n, n % 12 + 1, n % 12 + 1, n, n + 7, n % 28 + 1);
        break;
    }
}

static void make_extras(struct buf *out, uint64_t hash, uint32_t index)
{
    if (index % 2 == 0) {
        buf_add(out, STR(",\"subtitle\":["));
        add_string(out, index % 4 == 0 ? STR("") : words_keyword(hash));
        buf_add_char(out, ']');
    }
    if (index % 3 == 0)
        buf_printf(out, ",\"alternative-id\":[\"S%u\"]", hash_below(hash, 99999999));
    if (index % 5 == 0)
        buf_printf(out,
                   ",\"funder\":[{\"name\":\"European Commission\",\"award\":[\"%u\"],"
                   "\"award-info\":[{\"award-number\":[\"%u\"]}]}]",
                   hash_below(hash, 999999), hash_below(hash, 999999));
    if (index % 7 == 0)
        buf_printf(out,
                   ",\"relation\":{\"is-version-of\":[{\"id-type\":\"doi\",\"id\":"
                   "\"10.59350\\/%u\",\"asserted-by\":\"object\"}]}",
                   hash_below(hash, 99999999));
    if (index % 11 == 0) {
        buf_add(out, STR(",\"original-title\":["));
        add_string(out, words_journal(hash).title);
        buf_add_char(out, ']');
    }
}

static void make_license(struct buf *out, uint64_t hash, uint32_t index)
{
    (void)hash;
    if (index % 3 == 0)
        return;
    buf_printf(out,
               ",\"license\":[{\"start\":{\"date-parts\":[[2026,1,%u]],\"date-time\":"
               "\"2026-01-%02uT00:00:00Z\",\"timestamp\":%" PRIu64 "},\"content-version\":\"vor\","
               "\"delay-in-days\":%u,\"URL\":\"https:\\/\\/creativecommons.org\\/licenses\\/by\\/"
               "4.0\\/\"}]",
               index % 28 + 1, index % 28 + 1,
               UINT64_C(1767225600000) + (uint64_t)(index % 28) * 86400000, index % 4 * 10);
}

static const struct block_spec blocks[] = {
    { BLOCK_CROSSREF_JOURNAL, 60, make_journal },
    { BLOCK_CROSSREF_AUTHORS, 120, make_authors },
    { BLOCK_CROSSREF_REFERENCES, 120, make_references },
    { BLOCK_CROSSREF_ABSTRACT, 240, make_abstract },
    { BLOCK_CROSSREF_KIND, 64, make_kind },
    { BLOCK_CROSSREF_EXTRAS, 128, make_extras },
    { BLOCK_CROSSREF_LICENSE, 42, make_license },
};
const struct block_table body_crossref_blocks = { blocks, ARRAY_LEN(blocks) };

static void add_stamp(struct buf *out, int64_t at_us)
{
    const struct civil civil = instant_to_civil(at_us);

    buf_add(out, STR("{\"date-parts\":[["));
    text_add_number(out, (uint64_t)civil.year);
    buf_add_char(out, ',');
    text_add_number(out, (uint64_t)civil.month);
    buf_add_char(out, ',');
    text_add_number(out, (uint64_t)civil.day);
    buf_add(out, STR("]],\"date-time\":\""));
    api_date_add_second(out, at_us);
    buf_add(out, STR("\",\"timestamp\":"));
    text_add_number(out, (uint64_t)(at_us / US_PER_MS));
}

static void add_indexed(struct body *body)
{
    if (body->flaw == FLAW_NO_DATE)
        return;
    if (body->flaw == FLAW_BAD_DATE) {
        body_add(body, STR("\"indexed\":{\"date-parts\":[[null]],\"date-time\":\"yesterday\","
                           "\"timestamp\":\"soon\"},\"deposited\":{\"date-parts\":[[null]],"
                           "\"date-time\":\"2026-13-32T25:61:61Z\",\"timestamp\":null},"));
        return;
    }
    body_add(body, STR("\"indexed\":"));
    add_stamp(body->out, body->at_us);
    body_add(body, body->record_hash % 4 == 0 ? STR("},") : STR(",\"version\":\"3.50.1\"},"));
    body_add(body, STR("\"deposited\":"));
    add_stamp(body->out, corpus_deposited_us(body->corpus, body->version));
    body_add(body, STR("},"));
}

static void add_parts(struct buf *out, struct published published)
{
    buf_add(out, STR("{\"date-parts\":[["));
    if (published.year == 0) {
        buf_add(out, STR("null]]}"));
        return;
    }
    text_add_number(out, (uint64_t)published.year);
    if (published.month > 0) {
        buf_add_char(out, ',');
        text_add_number(out, (uint64_t)published.month);
    }
    if (published.day > 0) {
        buf_add_char(out, ',');
        text_add_number(out, (uint64_t)published.day);
    }
    buf_add(out, STR("]]}"));
}

static void add_published(struct body *body)
{
    const struct published published = corpus_published(body->corpus, body->record);

    body_add(body, STR(",\"issued\":"));
    add_parts(body->out, published);
    if (published.year == 0)
        return;
    body_add(body, STR(",\"published\":"));
    add_parts(body->out, published);
    body_add(body, body->record_hash % 2 == 0 ? STR(",\"published-print\":")
                                              : STR(",\"published-online\":"));
    add_parts(body->out, published);
}

static void add_doi(struct buf *out, const struct id *id)
{
    const struct str rest = id_str(id);
    const size_t slash = str_find_char(rest, '/');

    buf_add(out, str_slice(rest, 0, slash));
    buf_add(out, STR("\\/"));
    buf_add(out, str_slice(rest, slash + 1, rest.len));
}

static void add_names(struct body *body)
{
    const struct id id = body_id(body, ID_CROSSREF);

    body_add(body, STR(",\"prefix\":\""));
    body_add(body, str_slice(id_str(&id), 0, str_find_char(id_str(&id), '/')));
    body_add(body, STR("\""));
    if (body->flaw == FLAW_NO_ID)
        return;
    body_add(body, STR(",\"DOI\":\""));
    add_doi(body->out, &id);
    body_add(body, STR("\",\"URL\":\"https:\\/\\/doi.org\\/"));
    add_doi(body->out, &id);
    body_add(body, STR("\",\"resource\":{\"primary\":{\"URL\":\"https:\\/\\/example.org\\/"));
    add_doi(body->out, &id);
    body_add(body, STR("\"}},\"link\":[{\"URL\":\"https:\\/\\/example.org\\/"));
    add_doi(body->out, &id);
    body_add(body, STR("\",\"content-type\":\"unspecified\",\"content-version\":\"vor\","
                       "\"intended-application\":\"similarity-checking\"}]"));
}

static void write_body(struct body *body)
{
    struct buf *out = body->out;

    buf_add_char(out, '{');
    add_indexed(body);
    body_pick(body, BLOCK_CROSSREF_JOURNAL, body_hash(body, 1));
    add_names(body);
    buf_add(out, STR(",\"created\":"));
    add_stamp(out, body->created_us);
    buf_add(out, (body->flags & VERSION_DELETED) != 0 ? STR("},\"title\":[\"RETRACTED: ")
                                                      : STR("},\"title\":[\""));
    body_pick(body, BLOCK_TITLE_SLASHED, body_hash(body, 2));
    buf_add(out, STR("\"]"));
    body_pick(body, BLOCK_CROSSREF_KIND, body_hash(body, 3));
    body_pick(body, BLOCK_CROSSREF_LICENSE, body_hash(body, 4));
    body_pick(body, BLOCK_CROSSREF_EXTRAS, body_hash(body, 9));
    body_pick(body, BLOCK_CROSSREF_ABSTRACT, body_version_hash(body, 5));
    body_pick(body, BLOCK_CROSSREF_AUTHORS, body_hash(body, 6));
    body_pick(body, BLOCK_CROSSREF_REFERENCES, body_hash(body, 7));
    add_published(body);
    if ((body->flags & VERSION_DELETED) != 0) {
        buf_add(out, STR(",\"updated-by\":[{\"DOI\":\"10.5555\\/retraction."));
        text_add_number(out, body->record);
        buf_add(out, STR("\",\"type\":\"retraction\",\"label\":\"Retraction\",\"updated\":"));
        add_stamp(out, body->at_us);
        buf_add(out, STR("}}]"));
    }
    buf_add(out, STR(",\"is-referenced-by-count\":"));
    text_add_number(out, body_version_hash(body, 8) % 1000 + body->ordinal);
}

/* A list gives each work its score; a single work has score 1. */
void body_crossref(struct body *body)
{
    write_body(body);
    body_add(body, STR(",\"score\":0.0}"));
}

void body_crossref_work(struct body *body)
{
    write_body(body);
    body_add(body, STR(",\"score\":1}"));
}
