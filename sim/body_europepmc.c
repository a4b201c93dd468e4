/* A Europe PMC result: idlist, lite or core, as JSON or XML. The date of an update is in none of
 * them; core has dateOfRevision, the day of the last deposit. */
#include "base/attr.h"
#include "base/instant.h"
#include "sim/body.h"
#include "sim/when.h"
#include "sim/words.h"

/* ---- blocks, each in both syntaxes ---- */

static void add_text(struct buf *out, struct str text, bool json)
{
    if (json)
        words_json(out, text, JSON_PLAIN);
    else
        words_xml(out, text, false);
}

static void add_field(struct buf *out, const char *name, struct str text, bool json)
{
    buf_printf(out, json ? "\"%s\":\"" : "<%s>", name);
    add_text(out, text, json);
    if (json)
        buf_add_char(out, '"');
    else
        buf_printf(out, "</%s>", name);
}

static void add_author(struct buf *out, uint64_t hash, bool json)
{
    const struct person person = words_person(hash);
    const char *comma = json ? "," : "";

    buf_add(out, json ? STR("{") : STR("<author>"));
    add_field(out, "fullName", person.family, json);
    buf_add(out, str_of(comma));
    add_field(out, "firstName", person.given, json);
    buf_add(out, str_of(comma));
    add_field(out, "lastName", person.family, json);
    buf_add(out, str_of(comma));
    add_field(out, "initials", person.initials, json);
    if (hash % 4 == 0) {
        buf_add(out, json ? STR(",\"authorId\":{\"type\":\"ORCID\",\"value\":\"")
                          : STR("<authorId type=\"ORCID\">"));
        words_orcid(out, hash);
        buf_add(out, json ? STR("\"}") : STR("</authorId>"));
    }
    if (hash % 3 != 0) {
        buf_add(out, json ? STR(",\"authorAffiliationDetailsList\":{\"authorAffiliation\":[{")
                          : STR("<authorAffiliationDetailsList><authorAffiliation>"));
        add_field(out, "affiliation", words_place(dice_mix(hash)), json);
        buf_add(out,
                json ? STR("}]}") : STR("</authorAffiliation></authorAffiliationDetailsList>"));
    }
    buf_add(out, json ? STR("}") : STR("</author>"));
}

static void make_authors(struct buf *out, uint64_t hash, uint32_t index, bool json)
{
    const uint32_t count = index % 8 + 1;

    buf_add(out, json ? STR("\"authorString\":\"") : STR("<authorString>"));
    for (uint32_t i = 0; i < count; i++) {
        const struct person person = words_person(dice_mix(hash + i));

        if (i > 0)
            buf_add(out, STR(", "));
        add_text(out, person.family, json);
        buf_add_char(out, ' ');
        buf_add(out, person.initials);
    }
    buf_add(out,
            json ? STR(".\",\"authorList\":{\"author\":[") : STR(".</authorString><authorList>"));
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0 && json)
            buf_add_char(out, ',');
        add_author(out, dice_mix(hash + i), json);
    }
    buf_add(out, json ? STR("]}") : STR("</authorList>"));
}

static void make_authors_json(struct buf *out, uint64_t hash, uint32_t index)
{
    make_authors(out, hash, index, true);
}

static void make_authors_xml(struct buf *out, uint64_t hash, uint32_t index)
{
    make_authors(out, hash, index, false);
}

static void make_journal_json(struct buf *out, uint64_t hash, uint32_t index)
{
    const struct journal journal = words_journal(hash);

    buf_printf(out,
               "\"journalInfo\":{\"issue\":\"%u\",\"volume\":\"%u\",\"journalIssueId\":%u,"
               "\"dateOfPublication\":\"2026 Dec\",\"monthOfPublication\":12,"
               "\"yearOfPublication\":2026,\"printPublicationDate\":\"2026-12-01\",\"journal\":{"
               "\"title\":\"",
               index % 12 + 1, index + 3, 3873742 + index);
    words_json(out, journal.title, JSON_PLAIN);
    buf_add(out, STR("\",\"medlineAbbreviation\":\""));
    words_json(out, journal.abbreviation, JSON_PLAIN);
    buf_add(out, STR("\",\"isoabbreviation\":\""));
    words_json(out, journal.abbreviation, JSON_PLAIN);
    buf_printf(out, "\",\"nlmid\":\"%.*s\",\"issn\":\"%.*s\",\"essn\":\"%.*s\"}}",
               STR_ARG(journal.nlm_id), STR_ARG(journal.issn), STR_ARG(journal.eissn));
}

static void make_journal_xml(struct buf *out, uint64_t hash, uint32_t index)
{
    const struct journal journal = words_journal(hash);

    buf_printf(out,
               "<journalInfo><issue>%u</issue><volume>%u</volume><journalIssueId>%u"
               "</journalIssueId><dateOfPublication>2026 Dec</dateOfPublication>"
               "<monthOfPublication>12</monthOfPublication><yearOfPublication>2026"
               "</yearOfPublication><printPublicationDate>2026-12-01</printPublicationDate>"
               "<journal>",
               index % 12 + 1, index + 3, 3873742 + index);
    add_field(out, "title", journal.title, false);
    add_field(out, "ISOAbbreviation", journal.abbreviation, false);
    add_field(out, "medlineAbbreviation", journal.abbreviation, false);
    add_field(out, "NLMid", journal.nlm_id, false);
    add_field(out, "ISSN", journal.issn, false);
    add_field(out, "ESSN", journal.eissn, false);
    buf_add(out, STR("</journal></journalInfo>"));
}

/* HTML inside. */
static void make_abstract(struct buf *out, uint64_t hash, uint32_t index, bool json)
{
    struct buf plain;

    if (index % 6 == 0)
        return;
    buf_init(&plain, out->arena, 1 << 16);
    buf_add(&plain, STR("<h4>Objective</h4>"));
    for (uint32_t i = 0; i < 2 + index % 14; i++) {
        words_sentence(&plain, dice_mix(hash + i));
        buf_add_char(&plain, ' ');
    }
    buf_add(&plain, STR("<h4>Results</h4>We used <i>n</i> = 12."));
    add_field(out, "abstractText", buf_str(&plain), json);
    if (json)
        buf_add_char(out, ',');
}

static void make_abstract_json(struct buf *out, uint64_t hash, uint32_t index)
{
    make_abstract(out, hash, index, true);
}

static void make_abstract_xml(struct buf *out, uint64_t hash, uint32_t index)
{
    make_abstract(out, hash, index, false);
}

/* The lists of core, in JSON only: XML clients of this simulator do without. */
static void make_lists_json(struct buf *out, uint64_t hash, uint32_t index)
{
    const struct str word = words_term(hash);

    buf_add(out, STR("\"publicationStatus\":\"ppublish\",\"language\":\"eng\",\"pubModel\":"
                     "\"Print-Electronic\",\"pubTypeList\":{\"pubType\":[\"research-article\","
                     "\"Journal Article\"]}"));
    if (index % 2 == 0)
        buf_printf(out,
                   ",\"meshHeadingList\":{\"meshHeading\":[{\"majorTopic_YN\":\"N\","
                   "\"descriptorName\":\"%.*s\",\"meshQualifierList\":{\"meshQualifier\":[{"
                   "\"abbreviation\":\"IM\",\"qualifierName\":\"immunology\",\"majorTopic_YN\":"
                   "\"N\"}]}},{\"majorTopic_YN\":\"Y\",\"descriptorName\":\"Humans\"}]}",
                   STR_ARG(word));
    if (index % 3 == 0)
        buf_printf(out, ",\"keywordList\":{\"keyword\":[\"%.*s\",\"%.*s\"]}", STR_ARG(word),
                   STR_ARG(words_keyword(hash)));
    if (index % 4 == 0)
        buf_add(out, STR(",\"chemicalList\":{\"chemical\":[{\"name\":\"Antigens, Bacterial\","
                         "\"registryNumber\":\"0\"}]}"));
    if (index % 5 == 0)
        buf_printf(out,
                   ",\"grantsList\":{\"grant\":[{\"grantId\":\"P30 CA%06u\",\"agency\":"
                   "\"NCI NIH HHS\",\"acronym\":\"CA\",\"orderIn\":0}]}",
                   dice_below(hash, 999999));
    buf_add(out, STR(",\"subsetList\":{\"subset\":[{\"code\":\"IM\",\"name\":\"Index Medicus\"}]},"
                     "\"fullTextUrlList\":{\"fullTextUrl\":[{\"availability\":\"Subscription "
                     "required\",\"availabilityCode\":\"S\",\"documentStyle\":\"doi\",\"site\":"
                     "\"DOI\",\"url\":\"https://doi.org/10.1016/j.sim\"}]}"));
}

static const struct block_spec blocks[] = {
    { BLOCK_EUROPEPMC_AUTHORS_JSON, 96, make_authors_json },
    { BLOCK_EUROPEPMC_AUTHORS_XML, 96, make_authors_xml },
    { BLOCK_EUROPEPMC_JOURNAL_JSON, 48, make_journal_json },
    { BLOCK_EUROPEPMC_JOURNAL_XML, 48, make_journal_xml },
    { BLOCK_EUROPEPMC_ABSTRACT_JSON, 240, make_abstract_json },
    { BLOCK_EUROPEPMC_ABSTRACT_XML, 240, make_abstract_xml },
    { BLOCK_EUROPEPMC_LISTS_JSON, 60, make_lists_json },
};
const struct block_table body_europepmc_blocks = { blocks, ARRAY_LEN(blocks) };

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
        words_number(writer->body->out, number);
        body_add(writer->body, STR(","));
        return;
    }
    open_field(writer, name);
    words_number(writer->body->out, number);
    close_field(writer, name);
}

static void put_day(const struct writer *writer, struct str name, int64_t at_us)
{
    open_field(writer, name);
    when_add_date(writer->body->out, at_us);
    close_field(writer, name);
}

static void put_block(const struct writer *writer, enum block json, enum block xml, uint64_t hash)
{
    body_pick(writer->body, writer->json ? json : xml, hash);
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

static void put_flags(const struct writer *writer, bool core)
{
    static const struct str names[] = {
        STR_INIT("isOpenAccess"),
        STR_INIT("inEPMC"),
        STR_INIT("inPMC"),
        STR_INIT("hasPDF"),
        STR_INIT("hasBook"),
        STR_INIT("hasSuppl"),
        STR_INIT("hasReferences"),
        STR_INIT("hasTextMinedTerms"),
        STR_INIT("hasDbCrossReferences"),
        STR_INIT("hasLabsLinks"),
        STR_INIT("hasTMAccessionNumbers"),
        STR_INIT("hasData"),
        STR_INIT("hasEvaluations"),
        STR_INIT("authMan"),
        STR_INIT("epmcAuthMan"),
        STR_INIT("nihAuthMan"),
    };
    const size_t count = core ? ARRAY_LEN(names) : 11;

    for (size_t i = 0; i < count; i++)
        put(writer, names[i], (writer->body->version_hash >> i & 1) != 0 ? STR("Y") : STR("N"));
    put_number(writer, STR("citedByCount"), body_version_hash(writer->body, 11) % 100);
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
    struct buf *out = writer->body->out;
    const struct journal journal = words_journal(body_hash(writer->body, 1));

    open_field(writer, STR("authorString"));
    add_text(out, words_person(writer->body->record_hash).family, writer->json);
    buf_add(out, STR(" JD."));
    close_field(writer, STR("authorString"));
    open_field(writer, STR("journalTitle"));
    add_text(out, journal.abbreviation, writer->json);
    close_field(writer, STR("journalTitle"));
    put(writer, STR("issue"), STR("10471"));
    put(writer, STR("journalVolume"), STR("404"));
    open_field(writer, STR("journalIssn"));
    buf_add(out, journal.issn);
    buf_add(out, STR("; "));
    close_field(writer, STR("journalIssn"));
    put(writer, STR("pubType"), STR("journal article"));
}

static void put_core(const struct writer *writer)
{
    struct body *body = writer->body;

    put_block(writer, BLOCK_EUROPEPMC_AUTHORS_JSON, BLOCK_EUROPEPMC_AUTHORS_XML,
              body_hash(body, 6));
    if (writer->json)
        body_add(body, STR(","));
    if (body->record_hash % 9 == 0) { /* a preprint has no journal */
        body_add(body, writer->json ? STR("\"bookOrReportDetails\":{\"publisher\":\"bioRxiv\","
                                          "\"yearOfPublication\":2026},")
                                    : STR("<bookOrReportDetails><publisher>bioRxiv</publisher>"
                                          "<yearOfPublication>2026</yearOfPublication>"
                                          "</bookOrReportDetails>"));
    } else {
        put_block(writer, BLOCK_EUROPEPMC_JOURNAL_JSON, BLOCK_EUROPEPMC_JOURNAL_XML,
                  body_hash(body, 1));
        if (writer->json)
            body_add(body, STR(","));
    }
    put_block(writer, BLOCK_EUROPEPMC_ABSTRACT_JSON, BLOCK_EUROPEPMC_ABSTRACT_XML,
              body_version_hash(body, 5));
    if (writer->json) {
        body_pick(body, BLOCK_EUROPEPMC_LISTS_JSON, body_hash(body, 7));
        body_add(body, STR(","));
    }
}

enum extent { EXTENT_IDLIST, EXTENT_LITE, EXTENT_CORE };

static void write(struct body *body, enum extent extent, bool json)
{
    const struct writer writer = { body, json };
    const struct published published = corpus_published(body->corpus, body->record);

    body_add(body, json ? STR("{") : STR("<result>"));
    put_names(&writer, extent == EXTENT_IDLIST);
    if (extent != EXTENT_IDLIST) {
        open_field(&writer, STR("title"));
        put_block(&writer, BLOCK_TITLE_JSON, BLOCK_TITLE_XML, body_hash(body, 2));
        close_field(&writer, STR("title"));
        if (extent == EXTENT_CORE)
            put_core(&writer);
        else
            put_lite(&writer);
        if (published.year > 0) {
            open_field(&writer, STR("pubYear"));
            words_number(body->out, (uint64_t)published.year);
            close_field(&writer, STR("pubYear"));
        }
        put(&writer, STR("pageInfo"), STR("2603-2604"));
        put_flags(&writer, extent == EXTENT_CORE);
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
    write(body, EXTENT_CORE, true);
}

void body_europepmc_lite(struct body *body)
{
    write(body, EXTENT_LITE, true);
}

void body_europepmc_idlist(struct body *body)
{
    write(body, EXTENT_IDLIST, true);
}

void body_europepmc_core_xml(struct body *body)
{
    write(body, EXTENT_CORE, false);
}

void body_europepmc_lite_xml(struct body *body)
{
    write(body, EXTENT_LITE, false);
}

void body_europepmc_idlist_xml(struct body *body)
{
    write(body, EXTENT_IDLIST, false);
}
