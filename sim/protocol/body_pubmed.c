/* A PubMed record as efetch returns it: PubmedArticle, now and then PubmedBookArticle. DateRevised
 * is the version's day, the entrez date in the history is the record's creation to the minute; both
 * are in PubMed's time zone. */
#include "base/attr.h"
#include "base/instant.h"
#include "sim/protocol/body.h"
#include "sim/util/text_out.h"
#include "sim/world/words.h"

static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

/* The same journal for every block with this index. */
static struct journal journal_of(uint32_t index)
{
    return words_journal(hash_mix(index));
}

static void add_element(struct buf *out, const char *name, struct str text)
{
    buf_printf(out, "<%s>", name);
    text_add_xml(out, text, true);
    buf_printf(out, "</%s>", name);
}

static void make_issue(struct buf *out, uint64_t hash, uint32_t index)
{
    const struct journal journal = journal_of(index);
    const bool print = index % 3 == 0;

    (void)hash;
    buf_printf(out, "<Journal><ISSN IssnType=\"%s\">", print ? "Print" : "Electronic");
    buf_add(out, print ? journal.issn : journal.eissn);
    buf_printf(out,
               "</ISSN><JournalIssue CitedMedium=\"%s\"><Volume>%u</Volume><Issue>%u</Issue>"
               "<PubDate>",
               print ? "Print" : "Internet", index + 3, index % 12 + 1);
}

static void make_journal(struct buf *out, uint64_t hash, uint32_t index)
{
    const struct journal journal = journal_of(index);

    (void)hash;
    buf_add(out, STR("</PubDate></JournalIssue>"));
    add_element(out, "Title", journal.title);
    add_element(out, "ISOAbbreviation", journal.abbreviation);
    buf_add(out, STR("</Journal>"));
}

static void make_journal_info(struct buf *out, uint64_t hash, uint32_t index)
{
    const struct journal journal = journal_of(index);

    (void)hash;
    buf_add(out, STR("<MedlineJournalInfo><Country>England</Country>"));
    add_element(out, "MedlineTA", journal.abbreviation);
    add_element(out, "NlmUniqueID", journal.nlm_id);
    add_element(out, "ISSNLinking", journal.issn);
    buf_add(out, STR("</MedlineJournalInfo>"));
}

static void add_author(struct buf *out, uint64_t hash)
{
    const struct person person = words_person(hash);

    buf_add(out, STR("<Author ValidYN=\"Y\">"));
    if (hash % 23 == 0) {
        add_element(out, "CollectiveName", STR("The SIM & Friends Study Group"));
        buf_add(out, STR("</Author>"));
        return;
    }
    add_element(out, "LastName", person.family);
    add_element(out, "ForeName", person.given);
    add_element(out, "Initials", person.initials);
    if (hash % 4 == 0) {
        buf_add(out, STR("<Identifier Source=\"ORCID\">"));
        words_orcid(out, hash);
        buf_add(out, STR("</Identifier>"));
    }
    if (hash % 3 != 0) {
        buf_add(out, STR("<AffiliationInfo>"));
        add_element(out, "Affiliation", words_place(hash_mix(hash)));
        buf_add(out, STR("</AffiliationInfo>"));
    }
    buf_add(out, STR("</Author>"));
}

static void make_authors(struct buf *out, uint64_t hash, uint32_t index)
{
    const uint32_t count = index % 9;

    if (count == 0)
        return;
    buf_printf(out, "<AuthorList CompleteYN=\"%s\">", index % 7 == 0 ? "N" : "Y");
    for (uint32_t i = 0; i < count; i++)
        add_author(out, hash_mix(hash + i));
    buf_add(out, STR("</AuthorList>"));
}

static void add_sentences(struct buf *out, uint64_t hash, uint32_t count)
{
    struct buf plain;

    buf_init(&plain, out->arena, 1 << 16);
    for (uint32_t i = 0; i < count; i++) {
        words_sentence(&plain, hash_mix(hash + i));
        buf_add_char(&plain, ' ');
    }
    text_add_xml(out, buf_str(&plain), hash % 2 == 0);
}

static void make_abstract(struct buf *out, uint64_t hash, uint32_t index)
{
    static const char *const parts[] = { "BACKGROUND", "METHODS", "RESULTS", "CONCLUSIONS" };

    if (index % 6 == 0)
        return;
    buf_add(out, STR("<Abstract>"));
    if (index % 3 == 0) {
        for (uint32_t i = 0; i < ARRAY_LEN(parts); i++) {
            buf_printf(out, "<AbstractText Label=\"%s\" NlmCategory=\"%s\">", parts[i], parts[i]);
            add_sentences(out, hash_mix(hash - i), 1 + index % 4);
            buf_add(out, STR("</AbstractText>"));
        }
    } else {
        buf_add(out, STR("<AbstractText>"));
        add_sentences(out, hash, 2 + index % 10);
        buf_add(out, STR("We used <i>in vitro</i> CO<sub>2</sub> (n&#x2009;=&#x2009;12, p &lt; "
                         "0.05).</AbstractText>"));
    }
    buf_add(out, STR("<CopyrightInformation>&#xa9; 2026. The Author(s).</CopyrightInformation>"
                     "</Abstract>"));
}

static void make_kind(struct buf *out, uint64_t hash, uint32_t index)
{
    buf_add(out,
            index % 9 == 0 ? STR("<Language>chi</Language>") : STR("<Language>eng</Language>"));
    if (index % 4 == 0)
        buf_printf(out,
                   "<GrantList CompleteYN=\"Y\"><Grant><GrantID>R01 GM%u</GrantID><Acronym>GM"
                   "</Acronym><Agency>NIGMS NIH HHS</Agency><Country>United States</Country>"
                   "</Grant></GrantList>",
                   hash_below(hash, 999999));
    buf_add(out, STR("<PublicationTypeList><PublicationType UI=\"D016428\">Journal Article"
                     "</PublicationType>"));
    if (index % 11 == 0)
        buf_add(out, STR("<PublicationType UI=\"D016441\">Retracted Publication"
                         "</PublicationType>"));
    buf_add(out, STR("</PublicationTypeList>"));
}

static void add_heading(struct buf *out, uint64_t hash)
{
    buf_printf(out, "<MeshHeading><DescriptorName UI=\"D%06u\" MajorTopicYN=\"%s\">",
               hash_below(hash, 999999), hash % 2 == 0 ? "Y" : "N");
    buf_add(out, words_term(hash));
    buf_add(out, STR("</DescriptorName>"));
    if (hash % 3 == 0)
        buf_add(out, STR("<QualifierName UI=\"Q000235\" MajorTopicYN=\"N\">genetics"
                         "</QualifierName>"));
    buf_add(out, STR("</MeshHeading>"));
}

static void make_mesh(struct buf *out, uint64_t hash, uint32_t index)
{
    if (index % 3 == 0)
        buf_add(out, STR("<ChemicalList><Chemical><RegistryNumber>0</RegistryNumber>"
                         "<NameOfSubstance UI=\"D001426\">Bacterial Proteins</NameOfSubstance>"
                         "</Chemical></ChemicalList>"));
    buf_add(out, STR("<CitationSubset>IM</CitationSubset>"));
    if (index % 13 == 0)
        buf_add(out, STR("<CommentsCorrectionsList><CommentsCorrections RefType=\"ErratumIn\">"
                         "<RefSource>Nat Commun. 2026 Jan 2;17(1):99</RefSource><PMID "
                         "Version=\"1\">12345678</PMID></CommentsCorrections>"
                         "</CommentsCorrectionsList>"));
    if (index % 2 == 0) {
        buf_add(out, STR("<MeshHeadingList>"));
        for (uint32_t i = 0; i <= index % 7; i++)
            add_heading(out, hash_mix(hash + i));
        buf_add(out, STR("</MeshHeadingList>"));
    } else {
        buf_add(out, STR("<KeywordList Owner=\"NOTNLM\">"));
        for (uint32_t i = 0; i <= index % 5; i++) {
            buf_add(out, STR("<Keyword MajorTopicYN=\"N\">"));
            buf_add(out, words_keyword(hash_mix(hash + i)));
            buf_add(out, STR("</Keyword>"));
        }
        buf_add(out, STR("</KeywordList>"));
    }
    buf_add(out, STR("<CoiStatement>The authors declare no competing interests.</CoiStatement>"));
}

/* Holds the ids of other articles: a search for any ArticleId finds too many. */
static void make_references(struct buf *out, uint64_t hash, uint32_t index)
{
    const uint32_t count = index % 3 == 0 ? 0 : index % 14;

    if (count == 0)
        return;
    buf_add(out, STR("<ReferenceList>"));
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t one = hash_mix(hash + i);

        buf_add(out, STR("<Reference><Citation>"));
        text_add_xml(out, words_person(one).family, true);
        buf_add(out, STR(" et al. The "));
        buf_add(out, words_term(one));
        buf_printf(out, ". <i>Nature</i> <b>%u</b>, 656&#x2013;670 (2009).\n</Citation>",
                   hash_below(one, 400));
        buf_printf(out,
                   "<ArticleIdList><ArticleId IdType=\"doi\">10.1016/j.ref.%u</ArticleId>"
                   "<ArticleId IdType=\"pubmed\">%u</ArticleId></ArticleIdList></Reference>",
                   hash_below(hash_mix(one), 99999999), 10000000 + hash_below(one, 9999999));
    }
    buf_add(out, STR("</ReferenceList>"));
}

enum { JOURNALS = 48 };

static const struct block_spec blocks[] = {
    { BLOCK_PUBMED_ISSUE, JOURNALS, make_issue },
    { BLOCK_PUBMED_JOURNAL, JOURNALS, make_journal },
    { BLOCK_PUBMED_JOURNAL_INFO, JOURNALS, make_journal_info },
    { BLOCK_PUBMED_AUTHORS, 108, make_authors },
    { BLOCK_PUBMED_ABSTRACT, 240, make_abstract },
    { BLOCK_PUBMED_KIND, 99, make_kind },
    { BLOCK_PUBMED_MESH, 78, make_mesh },
    { BLOCK_PUBMED_REFERENCES, 84, make_references },
};
const struct block_table body_pubmed_blocks = { blocks, ARRAY_LEN(blocks) };

/* ---- dates ---- */

static int64_t local(const struct body *body, int64_t at_us)
{
    return at_us + body->corpus->options.pubmed_zone_us;
}

static void add_day(struct buf *out, int64_t at_us)
{
    const struct civil civil = instant_to_civil(at_us);

    buf_add(out, STR("<Year>"));
    text_add_number(out, (uint64_t)civil.year);
    buf_add(out, STR("</Year><Month>"));
    text_add_padded(out, (uint64_t)civil.month, 2);
    buf_add(out, STR("</Month><Day>"));
    text_add_padded(out, (uint64_t)civil.day, 2);
    buf_add(out, STR("</Day>"));
}

static void add_revised(struct body *body)
{
    if (body->flaw == FLAW_NO_DATE)
        return;
    if (body->flaw == FLAW_BAD_DATE) {
        body_add(body, STR("<DateRevised><Year>26</Year><Month>Juvember</Month><Day>99</Day>"
                           "</DateRevised>"));
        return;
    }
    if (body->record_hash % 3 == 0) {
        body_add(body, STR("<DateCompleted>"));
        add_day(body->out, local(body, body->created_us));
        body_add(body, STR("</DateCompleted>"));
    }
    body_add(body, STR("<DateRevised>"));
    add_day(body->out, local(body, body->at_us));
    body_add(body, STR("</DateRevised>"));
}

static void add_month(struct buf *out, int month)
{
    buf_add(out, (struct str){ months + (size_t)3 * (size_t)(month - 1), 3 });
}

/* Full dates, months, seasons, years, and free text. */
static void add_pub_date(struct body *body)
{
    static const struct str seasons[] = { STR_INIT("Spring"), STR_INIT("Summer"),
                                          STR_INIT("Autumn"), STR_INIT("Winter") };
    const struct published published = corpus_published(body->corpus, body->record);
    struct buf *out = body->out;

    if (published.year == 0) {
        buf_add(out, body->record_hash % 2 == 0
                         ? STR("<MedlineDate>1998 Dec-1999 Jan</MedlineDate>")
                         : STR("<MedlineDate>2001 Sep-Oct</MedlineDate>"));
        return;
    }
    buf_add(out, STR("<Year>"));
    text_add_number(out, (uint64_t)published.year);
    buf_add(out, STR("</Year>"));
    if (published.month == 0 && body->record_hash % 3 == 0) {
        buf_add(out, STR("<Season>"));
        buf_add(out, seasons[body->record % 4]);
        buf_add(out, STR("</Season>"));
    }
    if (published.month > 0) {
        buf_add(out, STR("<Month>"));
        add_month(out, published.month);
        buf_add(out, STR("</Month>"));
    }
    if (published.day > 0) {
        buf_add(out, STR("<Day>"));
        text_add_number(out, (uint64_t)published.day);
        buf_add(out, STR("</Day>"));
    }
}

static void add_moment(struct buf *out, struct str status, int64_t at_us)
{
    const struct civil civil = instant_to_civil(at_us);

    buf_add(out, STR("<PubMedPubDate PubStatus=\""));
    buf_add(out, status);
    buf_add(out, STR("\"><Year>"));
    text_add_number(out, (uint64_t)civil.year);
    buf_add(out, STR("</Year><Month>"));
    text_add_number(out, (uint64_t)civil.month);
    buf_add(out, STR("</Month><Day>"));
    text_add_number(out, (uint64_t)civil.day);
    buf_add(out, STR("</Day><Hour>"));
    text_add_number(out, (uint64_t)civil.hour);
    buf_add(out, STR("</Hour><Minute>"));
    text_add_number(out, (uint64_t)civil.minute);
    buf_add(out, STR("</Minute></PubMedPubDate>"));
}

static void add_history(struct body *body)
{
    if (body->flaw == FLAW_NO_DATE)
        return;
    body_add(body, STR("<History>"));
    if (body->record_hash % 2 == 0)
        body_add(body, STR("<PubMedPubDate PubStatus=\"received\"><Year>2025</Year><Month>5"
                           "</Month><Day>9</Day></PubMedPubDate>"));
    add_moment(body->out, STR("medline"), local(body, body->at_us));
    add_moment(body->out, STR("pubmed"), local(body, body->created_us));
    add_moment(body->out, STR("entrez"), local(body, corpus_entrez_us(body->corpus, body->record)));
    body_add(body, STR("</History>"));
}

/* ---- articles and books ---- */

static void add_pmid(struct body *body, const struct id *id)
{
    if (body->flaw == FLAW_NO_ID)
        return;
    body_add(body, STR("<PMID Version=\"1\">"));
    body_add(body, id_str(id));
    body_add(body, STR("</PMID>"));
}

static void add_article_ids(struct body *body, const struct id *id)
{
    const struct id doi = body_id(body, ID_CROSSREF);

    body_add(body, STR("<ArticleIdList>"));
    if (body->flaw != FLAW_NO_ID) {
        body_add(body, STR("<ArticleId IdType=\"pubmed\">"));
        body_add(body, id_str(id));
        body_add(body, STR("</ArticleId>"));
    }
    if (str_find_char(id_str(&doi), '<') == doi.len) {
        body_add(body, STR("<ArticleId IdType=\"doi\">"));
        body_add(body, id_str(&doi));
        body_add(body, STR("</ArticleId>"));
    }
    body_add(body, STR("</ArticleIdList>"));
}

static void add_book(struct body *body)
{
    const struct id id = body_id(body, ID_PUBMED);

    body_add(body, STR("<PubmedBookArticle><BookDocument>"));
    add_pmid(body, &id);
    add_article_ids(body, &id);
    body_add(body, STR("<Book><Publisher><PublisherName>University of Washington, Seattle"
                       "</PublisherName><PublisherLocation>Seattle (WA)</PublisherLocation>"
                       "</Publisher><BookTitle book=\"gene\">GeneReviews<sup>&#xae;</sup>"
                       "</BookTitle><PubDate><Year>1993</Year></PubDate></Book><ArticleTitle "
                       "book=\"gene\" part=\"part1\">"));
    body_pick(body, BLOCK_TITLE_XML, body_hash(body, 2));
    body_add(body, STR("</ArticleTitle><Language>eng</Language>"));
    body_pick(body, BLOCK_PUBMED_ABSTRACT, body_version_hash(body, 5));
    body_add(body, STR("<ContributionDate>"));
    add_day(body->out, local(body, body->created_us));
    body_add(body, STR("</ContributionDate>"));
    add_revised(body);
    body_add(body, STR("</BookDocument><PubmedBookData>"));
    add_history(body);
    body_add(body, STR("<PublicationStatus>ppublish</PublicationStatus>"));
    add_article_ids(body, &id);
    body_add(body, STR("</PubmedBookData></PubmedBookArticle>"));
}

void body_pubmed(struct body *body)
{
    const struct id id = body_id(body, ID_PUBMED);
    const uint64_t journal = body_hash(body, 1);

    if (body->record_hash % 50 == 0) {
        add_book(body);
        return;
    }
    body_add(body, STR("<PubmedArticle><MedlineCitation Status=\"MEDLINE\" Owner=\"NLM\" "
                       "IndexingMethod=\"Automated\">"));
    add_pmid(body, &id);
    add_revised(body);
    body_add(body, STR("<Article PubModel=\"Electronic\">"));
    body_pick(body, BLOCK_PUBMED_ISSUE, journal);
    add_pub_date(body);
    body_pick(body, BLOCK_PUBMED_JOURNAL, journal);
    body_add(body, STR("<ArticleTitle>"));
    body_pick(body, BLOCK_TITLE_XML, body_hash(body, 2));
    body_add(body, STR("</ArticleTitle>"));
    if (body->record_hash % 2 == 0)
        body_add(body, STR("<Pagination><StartPage>2603</StartPage><EndPage>2604</EndPage>"
                           "<MedlinePgn>2603-4</MedlinePgn></Pagination>"));
    body_add(body, STR("<ELocationID EIdType=\"pii\" ValidYN=\"Y\">S"));
    text_add_number(body->out, body_hash(body, 3) % 99999999);
    body_add(body, STR("</ELocationID>"));
    body_pick(body, BLOCK_PUBMED_ABSTRACT, body_version_hash(body, 5));
    body_pick(body, BLOCK_PUBMED_AUTHORS, body_hash(body, 6));
    body_pick(body, BLOCK_PUBMED_KIND, body_hash(body, 7));
    body_add(body, STR("<ArticleDate DateType=\"Electronic\">"));
    add_day(body->out, local(body, body->created_us));
    body_add(body, STR("</ArticleDate></Article>"));
    body_pick(body, BLOCK_PUBMED_JOURNAL_INFO, journal);
    body_pick(body, BLOCK_PUBMED_MESH, body_version_hash(body, 8));
    body_add(body, STR("</MedlineCitation><PubmedData>"));
    add_history(body);
    body_add(body, STR("<PublicationStatus>epublish</PublicationStatus>"));
    add_article_ids(body, &id);
    body_pick(body, BLOCK_PUBMED_REFERENCES, body_hash(body, 9));
    body_add(body, STR("</PubmedData></PubmedArticle>"));
}
