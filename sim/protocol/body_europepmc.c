/* A Europe PMC result: idlist, lite or core, as JSON or XML. The date of an update is in none of
 * them; core has dateOfRevision, the day of the last deposit. */
#include "base/instant.h"
#include "sim/protocol/body.h"
#include "sim/util/api_date.h"
#include "sim/util/text_out.h"

/* ---- fields of a body: "name":"text", or <name>text</name> ---- */

struct writer {
    struct body *body;
    bool json;
};

static void open_field(const struct writer *writer, struct str name)
{
    body_add(writer->body, writer->json ? STR("\"") : STR("<"));
    body_add(writer->body, name);
    body_add(writer->body, writer->json ? STR("\":\"") : STR(">"));
}

static void close_field(const struct writer *writer, struct str name)
{
    if (writer->json) {
        body_add(writer->body, STR("\","));
        return;
    }
    body_add(writer->body, STR("</"));
    body_add(writer->body, name);
    body_add(writer->body, STR(">"));
}

static void put(const struct writer *writer, struct str name, struct str text)
{
    open_field(writer, name);
    body_add(writer->body, text);
    close_field(writer, name);
}

static void put_number(const struct writer *writer, struct str name, uint64_t number)
{
    if (writer->json) {
        body_add(writer->body, STR("\""));
        body_add(writer->body, name);
        body_add(writer->body, STR("\":"));
        text_add_number(writer->body->out, number);
        body_add(writer->body, STR(","));
        return;
    }
    open_field(writer, name);
    text_add_number(writer->body->out, number);
    close_field(writer, name);
}

static void put_day(const struct writer *writer, struct str name, int64_t at_us)
{
    open_field(writer, name);
    api_date_add_date(writer->body->out, at_us);
    close_field(writer, name);
}

static void put_block(const struct writer *writer, enum block json, enum block xml, uint64_t hash)
{
    const struct str piece = texts_pick(writer->body->texts, writer->json ? json : xml, hash);

    body_add(writer->body, piece);
    if (writer->json && piece.len > 0)
        body_add(writer->body, STR(","));
}

static void put_names(const struct writer *writer, bool idlist)
{
    const struct body *body = writer->body;
    const struct id id = body_id(body, ID_EUROPEPMC);
    const struct id doi = body_id(body, ID_CROSSREF);
    struct str name = id_str(&id);
    const struct str source = str_cut(&name, '/');

    if (body->flaw != FLAW_NO_ID)
        put(writer, STR("id"), name);
    put(writer, STR("source"), source);
    if (body->flaw != FLAW_NO_ID && str_eq(source, STR("MED")))
        put(writer, STR("pmid"), name);
    if (!idlist && body->record_hash % 8 != 0 && str_find_char(id_str(&doi), '<') == doi.len)
        put(writer, STR("doi"), id_str(&doi));
}

/* Preprints have no journal. */
static bool is_preprint(const struct body *body)
{
    const struct id id = body_id(body, ID_EUROPEPMC);

    return id.text[0] == 'P';
}

static void put_preprint(const struct writer *writer)
{
    body_add(writer->body, writer->json
                               ? STR("\"bookOrReportDetails\":{\"publisher\":\"bioRxiv\","
                                     "\"yearOfPublication\":2026},\"versionNumber\":1,")
                               : STR("<bookOrReportDetails><publisher>bioRxiv</publisher>"
                                     "<yearOfPublication>2026</yearOfPublication>"
                                     "</bookOrReportDetails><versionNumber>1</versionNumber>"));
}

/* Some have their full text in PMC. */
static void put_pmcid(const struct writer *writer)
{
    struct body *body = writer->body;
    const uint64_t number = 10000000 + body->record;

    if (body->record_hash % 3 != 0)
        return;
    body_add(body, writer->json ? STR("\"pmcid\":\"PMC") : STR("<pmcid>PMC"));
    text_add_number(body->out, number);
    body_add(body, writer->json ? STR("\",\"fullTextIdList\":{\"fullTextId\":[\"PMC")
                                : STR("</pmcid><fullTextIdList><fullTextId>PMC"));
    text_add_number(body->out, number);
    body_add(body, writer->json ? STR("\"]},") : STR("</fullTextId></fullTextIdList>"));
}

static void put_dates(const struct writer *writer, bool core)
{
    const struct body *body = writer->body;
    const int64_t published_us = corpus_published_us(body->corpus, body->record);

    if (body->flaw == FLAW_NO_DATE)
        return;
    if (body->flaw == FLAW_BAD_DATE) {
        put(writer, STR("dateOfRevision"), STR("2026-02-31"));
        put(writer, STR("firstIndexDate"), STR("unknown"));
        return;
    }
    if (core) {
        put_day(writer, STR("dateOfCreation"), body->created_us);
        put_day(writer, STR("dateOfRevision"), corpus_deposited_us(body->corpus, body->version));
    }
    put_day(writer, STR("firstIndexDate"), body->created_us);
    if (published_us != INT64_MIN)
        put_day(writer, STR("firstPublicationDate"), published_us);
}

static void put_lite(const struct writer *writer)
{
    struct body *body = writer->body;

    if (is_preprint(body))
        put_preprint(writer);
    else
        put_block(writer, BLOCK_EUROPEPMC_LITE_JSON, BLOCK_EUROPEPMC_LITE_XML, body_hash(body, 1));
    put_block(writer, BLOCK_EUROPEPMC_FLAGS_LITE_JSON, BLOCK_EUROPEPMC_FLAGS_LITE_XML,
              body_version_hash(body, 12));
}

static void put_core(const struct writer *writer)
{
    struct body *body = writer->body;

    put_block(writer, BLOCK_EUROPEPMC_AUTHORS_JSON, BLOCK_EUROPEPMC_AUTHORS_XML,
              body_hash(body, 6));
    if (is_preprint(body))
        put_preprint(writer);
    else
        put_block(writer, BLOCK_EUROPEPMC_JOURNAL_JSON, BLOCK_EUROPEPMC_JOURNAL_XML,
                  body_hash(body, 1));
    put_block(writer, BLOCK_EUROPEPMC_ABSTRACT_JSON, BLOCK_EUROPEPMC_ABSTRACT_XML,
              body_version_hash(body, 5));
    put_block(writer, BLOCK_EUROPEPMC_LISTS_JSON, BLOCK_EUROPEPMC_LISTS_XML, body_hash(body, 7));
    put_block(writer, BLOCK_EUROPEPMC_FLAGS_CORE_JSON, BLOCK_EUROPEPMC_FLAGS_CORE_XML,
              body_version_hash(body, 12));
}

enum extent { EXTENT_IDLIST, EXTENT_LITE, EXTENT_CORE };

static void write_body(struct body *body, enum extent extent, bool json)
{
    const struct writer writer = { body, json };
    const struct published published = corpus_published(body->corpus, body->record);

    body_add(body, json ? STR("{") : STR("<result>"));
    put_names(&writer, extent == EXTENT_IDLIST);
    put_pmcid(&writer);
    if (extent != EXTENT_IDLIST) {
        open_field(&writer, STR("title"));
        body_pick(body, json ? BLOCK_TITLE_JSON : BLOCK_TITLE_XML, body_hash(body, 2));
        close_field(&writer, STR("title"));
        if (extent == EXTENT_CORE)
            put_core(&writer);
        else
            put_lite(&writer);
        if (published.year > 0) {
            open_field(&writer, STR("pubYear"));
            text_add_number(body->out, (uint64_t)published.year);
            close_field(&writer, STR("pubYear"));
        }
        put(&writer, STR("pageInfo"), STR("e2603-e2604"));
        put_number(&writer, STR("citedByCount"), body_version_hash(body, 11) % 100);
        put_dates(&writer, extent == EXTENT_CORE);
    }
    if (json) {
        body->out->len--; /* the last comma */
        body_add(body, STR("}"));
    } else {
        body_add(body, STR("</result>"));
    }
}

void body_europepmc_core(struct body *body)
{
    write_body(body, EXTENT_CORE, true);
}

void body_europepmc_lite(struct body *body)
{
    write_body(body, EXTENT_LITE, true);
}

void body_europepmc_idlist(struct body *body)
{
    write_body(body, EXTENT_IDLIST, true);
}

void body_europepmc_core_xml(struct body *body)
{
    write_body(body, EXTENT_CORE, false);
}

void body_europepmc_lite_xml(struct body *body)
{
    write_body(body, EXTENT_LITE, false);
}

void body_europepmc_idlist_xml(struct body *body)
{
    write_body(body, EXTENT_IDLIST, false);
}
