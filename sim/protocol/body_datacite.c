/* A DOI of DataCite as a JSON:API resource. Times have milliseconds (always zero) in the
 * response for a single DOI and none in lists; the dates[] that people entered are free-form. */
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

static void make_creators(struct buf *out, uint64_t hash, uint32_t index)
{
    const uint32_t count = index % 5 + 1;

    buf_add(out, STR(",\"creators\":["));
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t one = hash_mix(hash + i);
        const struct person person = words_person(one);

        buf_add(out, i > 0 ? STR(",{\"name\":\"") : STR("{\"name\":\""));
        text_add_json(out, person.family, JSON_PLAIN);
        buf_add(out, STR(", "));
        text_add_json(out, person.given, JSON_PLAIN);
        buf_add(out, STR("\",\"nameType\":\"Personal\",\"givenName\":"));
        add_string(out, person.given);
        buf_add(out, STR(",\"familyName\":"));
        add_string(out, person.family);
        buf_add(out, STR(",\"affiliation\":["));
        if (one % 2 == 0)
            add_string(out, words_place(one));
        buf_add(out, STR("],\"nameIdentifiers\":["));
        if (one % 3 == 0) {
            buf_add(out, STR("{\"schemeUri\":\"https://orcid.org\",\"nameIdentifier\":"
                             "\"https://orcid.org/"));
            words_orcid(out, one);
            buf_add(out, STR("\",\"nameIdentifierScheme\":\"ORCID\"}"));
        }
        buf_add(out, STR("]}"));
    }
    buf_add_char(out, ']');
}

static void make_subjects(struct buf *out, uint64_t hash, uint32_t index)
{
    buf_add(out, STR(",\"subjects\":["));
    for (uint32_t i = 0; i < index % 5; i++) {
        buf_add(out, i > 0 ? STR(",{\"subject\":") : STR("{\"subject\":"));
        add_string(out, words_term(hash_mix(hash + i)));
        buf_add_char(out, '}');
    }
    buf_add(out, STR("],\"contributors\":["));
    if (index % 3 == 0)
        buf_add(out, STR("{\"name\":\"Ocean Networks Canada Society\",\"nameType\":"
                         "\"Organizational\",\"affiliation\":[],\"contributorType\":"
                         "\"DataManager\",\"nameIdentifiers\":[{\"schemeUri\":\"https://ror.org\","
                         "\"nameIdentifier\":\"https://ror.org/05gknh003\","
                         "\"nameIdentifierScheme\":\"ROR\"}]}"));
    buf_add(out, STR("],\"dates\":[{\"date\":\"2025\",\"dateType\":\"Issued\"}"));
    if (index % 4 == 1)
        buf_add(out, STR(",{\"date\":\"2010/2012\",\"dateType\":\"Collected\"}"));
    if (index % 4 == 2)
        buf_add(out, STR(",{\"date\":\"unknown\",\"dateType\":\"Created\"},{\"date\":"
                         "\"March 2011\",\"dateType\":\"Available\"}"));
    buf_add_char(out, ']');
}

static void make_kind(struct buf *out, uint64_t hash, uint32_t index)
{
    buf_add(out, index % 3 == 0 ? STR(",\"language\":null") : STR(",\"language\":\"en\""));
    buf_add(out, STR(",\"types\":{\"ris\":\"DATA\",\"bibtex\":\"misc\",\"citeproc\":\"dataset\","
                     "\"schemaOrg\":\"Dataset\","));
    if (index % 2 == 0)
        buf_add(out, STR("\"resourceType\":\"study\","));
    buf_add(out, STR("\"resourceTypeGeneral\":\"Dataset\"},\"relatedIdentifiers\":["));
    for (uint32_t i = 0; i < index % 6; i++)
        buf_printf(out,
                   "%s{\"relationType\":\"IsCitedBy\",\"relatedIdentifier\":\"10.1016/j.ref.%u\","
                   "\"relatedIdentifierType\":\"DOI\"}",
                   i > 0 ? "," : "", hash_below(hash_mix(hash + i), 99999999));
    buf_add(out, STR("],\"relatedItems\":[],\"sizes\":["));
    if (index % 2 == 0)
        buf_printf(out, "\"%u Bytes\"", hash_below(hash, 100000));
    buf_add(out, STR("],\"formats\":["));
    if (index % 2 == 1)
        buf_add(out, STR("\"text/csv\""));
    buf_add(out, index % 5 == 0 ? STR("],\"version\":null") : STR("],\"version\":\"1.0\""));
    buf_add(out, STR(",\"rightsList\":["));
    if (index % 4 != 0)
        buf_add(out, STR("{\"rights\":\"Creative Commons Attribution 4.0 International\","
                         "\"rightsUri\":\"https://creativecommons.org/licenses/by/4.0/legalcode\","
                         "\"schemeUri\":\"https://spdx.org/licenses/\",\"rightsIdentifier\":"
                         "\"cc-by-4.0\",\"rightsIdentifierScheme\":\"SPDX\"}"));
    buf_add(out, STR("],\"geoLocations\":["));
    if (index % 7 == 0)
        buf_add(out, STR("{\"geoLocationPlace\":\"Michigan, United States\"},{\"geoLocationPoint\":"
                         "{\"pointLatitude\":48.4143413,\"pointLongitude\":-123.3890701}}"));
    buf_add(out, STR("],\"fundingReferences\":[]"));
}

static const struct block_spec blocks[] = {
    { BLOCK_DATACITE_CREATORS, 100, make_creators },
    { BLOCK_DATACITE_SUBJECTS, 60, make_subjects },
    { BLOCK_DATACITE_KIND, 84, make_kind },
};
const struct block_table body_datacite_blocks = { blocks, ARRAY_LEN(blocks) };

static void add_time(struct body *body, struct str name, int64_t at_us, bool single)
{
    struct buf *out = body->out;

    body_add(body, STR(",\""));
    body_add(body, name);
    body_add(body, STR("\":\""));
    api_date_add_second(out, at_us);
    if (single) {
        out->len -= out->len > 0; /* the Z */
        body_add(body, STR(".000Z"));
    }
    body_add(body, STR("\""));
}

static void add_times(struct body *body, bool single)
{
    const struct published published = corpus_published(body->corpus, body->record);

    if (body->flaw != FLAW_NO_DATE && body->flaw != FLAW_BAD_DATE) {
        add_time(body, STR("created"), body->created_us, single);
        if (body->record_hash % 5 == 0)
            body_add(body, STR(",\"registered\":null"));
        else
            add_time(body, STR("registered"), body->created_us, single);
        add_time(body, STR("updated"), body->at_us, single);
    }
    if (body->flaw == FLAW_BAD_DATE)
        body_add(body, STR(",\"created\":\"2026-00-00\",\"updated\":\"2026-01-02T03:04\\u0000\""));
    body_add(body, STR(",\"published\":"));
    if (published.year == 0) {
        body_add(body, STR("null"));
    } else {
        body_add(body, STR("\""));
        text_add_number(body->out, (uint64_t)published.year);
        body_add(body, STR("\""));
    }
    body_add(body, STR(",\"publicationYear\":"));
    text_add_number(body->out, (uint64_t)(published.year > 0 ? published.year : 2026));
}

static void add_description(struct body *body)
{
    body_add(body, STR(",\"descriptions\":["));
    if (body->record_hash % 3 != 0) {
        body_add(body, STR("{\"description\":\""));
        body_pick(body, BLOCK_ABSTRACT_JSON, body_version_hash(body, 5));
        body_add(body, STR("\",\"descriptionType\":\"Abstract\",\"lang\":\"en\"}"));
    }
    body_add(body, STR("]"));
}

static void add_counts(struct body *body)
{
    static const struct str names[] = {
        STR_INIT(",\"viewCount\":"),      STR_INIT(",\"downloadCount\":"),
        STR_INIT(",\"referenceCount\":"), STR_INIT(",\"citationCount\":"),
        STR_INIT(",\"partCount\":"),      STR_INIT(",\"partOfCount\":"),
        STR_INIT(",\"versionCount\":"),   STR_INIT(",\"versionOfCount\":"),
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        body_add(body, names[i]);
        text_add_number(body->out, body->version_hash >> 4 * i & 15);
    }
}

static void write_body(struct body *body, bool single)
{
    const struct id id = body_id(body, ID_DATACITE);

    body_add(body, STR("{"));
    if (body->flaw != FLAW_NO_ID) {
        body_add(body, STR("\"id\":\""));
        body_add(body, id_str(&id));
        body_add(body, STR("\","));
    }
    body_add(body, STR("\"type\":\"dois\",\"attributes\":{"));
    if (body->flaw != FLAW_NO_ID) {
        body_add(body, STR("\"doi\":\""));
        body_add(body, id_str(&id));
        body_add(body, STR("\","));
    }
    body_add(body, STR("\"identifiers\":[]"));
    body_pick(body, BLOCK_DATACITE_CREATORS, body_hash(body, 6));
    body_add(body, STR(",\"titles\":[{\"title\":\""));
    body_pick(body, BLOCK_TITLE_JSON, body_hash(body, 2));
    body_add(body, STR("\"}],\"publisher\":\"Zenodo\",\"container\":{}"));
    body_pick(body, BLOCK_DATACITE_SUBJECTS, body_hash(body, 7));
    body_pick(body, BLOCK_DATACITE_KIND, body_version_hash(body, 8));
    add_description(body);
    body_add(body, STR(",\"url\":\"https://zenodo.example.org/records/"));
    text_add_number(body->out, body->record);
    body_add(body, STR("\",\"contentUrl\":null,\"metadataVersion\":"));
    text_add_number(body->out, body->ordinal);
    body_add(body, STR(",\"schemaVersion\":\"http://datacite.org/schema/kernel-4\",\"source\":"
                       "\"api\",\"isActive\":true,\"state\":\"findable\",\"reason\":null"));
    add_counts(body);
    add_times(body, single);
    body_add(body, STR("},\"relationships\":{\"client\":{\"data\":{\"id\":\"cern.zenodo\",\"type\":"
                       "\"clients\"}}}}"));
}

void body_datacite(struct body *body)
{
    write_body(body, false);
}

void body_datacite_doi(struct body *body)
{
    write_body(body, true);
}
