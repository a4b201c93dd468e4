/* The blocks of Europe PMC's results, each as JSON and as XML. */
#include <stdio.h>

#include "base/attr.h"
#include "sim/protocol/body.h"
#include "sim/util/text_out.h"
#include "sim/world/words.h"

static void add_text(struct buf *out, struct str text, bool json)
{
    if (json)
        text_add_json(out, text, JSON_PLAIN);
    else
        text_add_xml(out, text, false);
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
        add_field(out, "affiliation", words_place(hash_mix(hash)), json);
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
        const struct person person = words_person(hash_mix(hash + i));

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
        add_author(out, hash_mix(hash + i), json);
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
    text_add_json(out, journal.title, JSON_PLAIN);
    buf_add(out, STR("\",\"medlineAbbreviation\":\""));
    text_add_json(out, journal.abbreviation, JSON_PLAIN);
    buf_add(out, STR("\",\"isoabbreviation\":\""));
    text_add_json(out, journal.abbreviation, JSON_PLAIN);
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
        words_sentence(&plain, hash_mix(hash + i));
        buf_add_char(&plain, ' ');
    }
    buf_add(&plain, STR("<h4>Results</h4>We used <i>n</i> = 12."));
    add_field(out, "abstractText", buf_str(&plain), json);
}

static void make_abstract_json(struct buf *out, uint64_t hash, uint32_t index)
{
    make_abstract(out, hash, index, true);
}

static void make_abstract_xml(struct buf *out, uint64_t hash, uint32_t index)
{
    make_abstract(out, hash, index, false);
}

static void make_lists_json(struct buf *out, uint64_t hash, uint32_t index)
{
    const struct str word = words_term(hash);

    buf_add(out, STR("\"publicationStatus\":\"ppublish\",\"language\":\"eng\",\"pubModel\":"
                     "\"Print-Electronic\",\"pubTypeList\":{\"pubType\":[\"research-article\","
                     "\"Journal Article\"]},\"affiliation\":\""));
    text_add_json(out, words_place(hash), JSON_PLAIN);
    buf_add_char(out, '"');
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
                   hash_below(hash, 999999));
    if (index % 3 == 1)
        buf_add(out,
                STR(",\"license\":\"cc by\",\"tmAccessionTypeList\":{\"accessionType\":[\"nct\"]},"
                    "\"dateOfCompletion\":\"2026-07-08\",\"electronicPublicationDate\":"
                    "\"2026-03-10\",\"fullTextReceivedDate\":\"2026-03-14\""));
    buf_add(out, STR(",\"subsetList\":{\"subset\":[{\"code\":\"IM\",\"name\":\"Index Medicus\"}]},"
                     "\"fullTextUrlList\":{\"fullTextUrl\":[{\"availability\":\"Subscription "
                     "required\",\"availabilityCode\":\"S\",\"documentStyle\":\"doi\",\"site\":"
                     "\"DOI\",\"url\":\"https://doi.org/10.1016/j.sim\"}]}"));
}

static void make_lists_xml(struct buf *out, uint64_t hash, uint32_t index)
{
    add_field(out, "affiliation", words_place(hash), false);
    buf_add(out, STR("<language>eng</language><pubModel>Print-Electronic</pubModel><pubTypeList>"
                     "<pubType>research-article</pubType></pubTypeList>"));
    if (index % 2 == 0) {
        buf_add(out, STR("<keywordList>"));
        add_field(out, "keyword", words_term(hash), false);
        buf_add(out, STR("</keywordList>"));
    }
    buf_add(out, STR("<fullTextUrlList><fullTextUrl><availability>Open access</availability>"
                     "<availabilityCode>OA</availabilityCode><documentStyle>html</documentStyle>"
                     "<site>Europe_PMC</site><url>http://europepmc.org/articles/PMC1</url>"
                     "</fullTextUrl></fullTextUrlList>"));
    if (index % 3 == 0)
        buf_add(out, STR("<license>cc by</license><electronicPublicationDate>2026-03-10"
                         "</electronicPublicationDate>"));
}

/* What follows the journal in lite; the same journal for the same index. */
static void make_lite(struct buf *out, uint64_t hash, uint32_t index, bool json)
{
    const struct journal journal = words_journal(hash);
    const char *comma = json ? "," : "";
    char number[16];

    (void)snprintf(number, sizeof(number), "%u", index + 3);
    add_field(out, "authorString", words_person(hash).family, json);
    buf_add(out, str_of(comma));
    add_field(out, "journalTitle", journal.abbreviation, json);
    buf_add(out, str_of(comma));
    add_field(out, "issue", str_of(number), json);
    buf_add(out, str_of(comma));
    add_field(out, "journalVolume", str_of(number), json);
    buf_printf(out,
               json ? ",\"journalIssn\":\"%.*s; %.*s; \","
                    : "<journalIssn>%.*s; %.*s; </journalIssn>",
               STR_ARG(journal.issn), STR_ARG(journal.eissn));
    add_field(out, "pubType", STR("journal article"), json);
}

static void make_lite_json(struct buf *out, uint64_t hash, uint32_t index)
{
    make_lite(out, hash, index, true);
}

static void make_lite_xml(struct buf *out, uint64_t hash, uint32_t index)
{
    make_lite(out, hash, index, false);
}

/* The Y and N members of a result; those that only core has come last. */
static void make_flags(struct buf *out, uint64_t hash, bool json, bool core)
{
    static const char *const names[] = {
        "isOpenAccess",
        "inEPMC",
        "inPMC",
        "hasPDF",
        "hasBook",
        "hasSuppl",
        "hasReferences",
        "hasTextMinedTerms",
        "hasDbCrossReferences",
        "hasLabsLinks",
        "hasTMAccessionNumbers",
        "hasData",
        "hasEvaluations",
        "authMan",
        "epmcAuthMan",
        "nihAuthMan",
    };
    const size_t count = core ? ARRAY_LEN(names) : 11;

    for (size_t i = 0; i < count; i++) {
        if (i > 0 && json)
            buf_add_char(out, ',');
        add_field(out, names[i], (hash >> i & 1) != 0 ? STR("Y") : STR("N"), json);
    }
}

static void make_flags_core_json(struct buf *out, uint64_t hash, uint32_t index)
{
    (void)index;
    make_flags(out, hash, true, true);
}

static void make_flags_core_xml(struct buf *out, uint64_t hash, uint32_t index)
{
    (void)index;
    make_flags(out, hash, false, true);
}

static void make_flags_lite_json(struct buf *out, uint64_t hash, uint32_t index)
{
    (void)index;
    make_flags(out, hash, true, false);
}

static void make_flags_lite_xml(struct buf *out, uint64_t hash, uint32_t index)
{
    (void)index;
    make_flags(out, hash, false, false);
}

static const struct block_spec blocks[] = {
    { BLOCK_EUROPEPMC_AUTHORS_JSON, 96, make_authors_json },
    { BLOCK_EUROPEPMC_AUTHORS_XML, 96, make_authors_xml },
    { BLOCK_EUROPEPMC_JOURNAL_JSON, 48, make_journal_json },
    { BLOCK_EUROPEPMC_JOURNAL_XML, 48, make_journal_xml },
    { BLOCK_EUROPEPMC_ABSTRACT_JSON, 240, make_abstract_json },
    { BLOCK_EUROPEPMC_ABSTRACT_XML, 240, make_abstract_xml },
    { BLOCK_EUROPEPMC_LISTS_JSON, 60, make_lists_json },
    { BLOCK_EUROPEPMC_LISTS_XML, 60, make_lists_xml },
    { BLOCK_EUROPEPMC_LITE_JSON, 96, make_lite_json },
    { BLOCK_EUROPEPMC_LITE_XML, 96, make_lite_xml },
    { BLOCK_EUROPEPMC_FLAGS_CORE_JSON, 96, make_flags_core_json },
    { BLOCK_EUROPEPMC_FLAGS_CORE_XML, 96, make_flags_core_xml },
    { BLOCK_EUROPEPMC_FLAGS_LITE_JSON, 96, make_flags_lite_json },
    { BLOCK_EUROPEPMC_FLAGS_LITE_XML, 96, make_flags_lite_xml },
};
const struct block_table body_europepmc_blocks = { blocks, ARRAY_LEN(blocks) };
