/* An OAI-PMH <record>: Dublin Core with datestamps to the second or to the day, or arXivRaw (days).
 * Deleted and merged records are headers with status="deleted" and nothing else. */
#include "base/attr.h"
#include "base/instant.h"
#include "sim/protocol/body.h"
#include "sim/util/api_date.h"
#include "sim/util/text_out.h"
#include "sim/world/words.h"

static void add_element(struct buf *out, const char *name, struct str text)
{
    buf_printf(out, "<%s>", name);
    text_add_xml(out, text, false);
    buf_printf(out, "</%s>", name);
}

static void make_people(struct buf *out, uint64_t hash, uint32_t index)
{
    for (uint32_t i = 0; i <= index % 6; i++) {
        const struct person person = words_person(hash_mix(hash + i));
        struct buf name;

        buf_init(&name, out->arena, 256);
        buf_add(&name, person.family);
        buf_add(&name, STR(", "));
        buf_add(&name, person.given);
        add_element(out, "dc:creator", buf_str(&name));
    }
}

static void make_extras(struct buf *out, uint64_t hash, uint32_t index)
{
    for (uint32_t i = 0; i < index % 5; i++)
        add_element(out, "dc:subject", words_term(hash_mix(hash + i)));
    add_element(out, "dc:publisher", words_journal(hash).publisher);
    if (index % 3 == 0)
        add_element(out, "dc:contributor", words_person(hash_mix(hash)).family);
    if (index % 4 == 0)
        buf_add(out, STR("<dc:coverage>Nairobi, Kenya</dc:coverage>"));
    if (index % 5 == 0)
        buf_add(out, STR("<dc:format>application/pdf</dc:format><dc:source>Simulator, 7(2), 1-9"
                         "</dc:source>"));
    if (index % 2 == 0)
        buf_printf(out, "<dc:relation>https://doi.org/10.5281/zenodo.%u</dc:relation>",
                   hash_below(hash, 99999999));
    buf_add(out, STR("<dc:type>info:eu-repo/semantics/article</dc:type><dc:language>eng"
                     "</dc:language><dc:rights>info:eu-repo/semantics/openAccess</dc:rights>"
                     "<dc:rights>https://creativecommons.org/licenses/by/4.0/legalcode"
                     "</dc:rights>"));
}

/* Escaped twice, as in repositories that store HTML. */
static void make_description(struct buf *out, uint64_t hash, uint32_t index)
{
    struct buf plain, html;

    if (index % 5 == 0)
        return;
    buf_init(&plain, out->arena, 1 << 16);
    buf_init(&html, out->arena, 1 << 17);
    for (uint32_t i = 0; i < 2 + index % 15; i++) {
        words_sentence(&plain, hash_mix(hash + i));
        buf_add_char(&plain, i % 5 == 4 ? '\n' : ' ');
    }
    buf_add(&html, STR("&lt;p&gt;"));
    text_add_xml(&html, buf_str(&plain), false);
    buf_add(&html, STR("&lt;/p&gt;"));
    add_element(out, "dc:description", buf_str(&html));
}

static void make_arxiv(struct buf *out, uint64_t hash, uint32_t index)
{
    add_element(out, "submitter", words_person(hash).family);
    buf_add(out, STR("<authors>"));
    for (uint32_t i = 0; i <= index % 5; i++) {
        if (i > 0)
            buf_add(out, STR(", "));
        text_add_xml(out, words_person(hash_mix(hash + i)).family, false);
    }
    buf_printf(
        out,
        "</authors><categories>cond-mat.stat-mech physics.bio-ph</categories><comments>%u "
        "pages, 2 figures</comments>%s<license>http://arxiv.org/licenses/nonexclusive-distrib/"
        "1.0/</license>",
        5 + index % 30,
        index % 2 == 0 ? "<journal-ref>EPL 124,60006 (2018)</journal-ref><doi>"
                         "10.1209/0295-5075/124/60006</doi>"
                       : "");
}

static const struct block_spec blocks[] = {
    { BLOCK_OAI_PEOPLE, 60, make_people },
    { BLOCK_OAI_EXTRAS, 60, make_extras },
    { BLOCK_OAI_DESCRIPTION, 240, make_description },
    { BLOCK_OAI_ARXIV, 60, make_arxiv },
};
const struct block_table body_oai_blocks = { blocks, ARRAY_LEN(blocks) };

enum kind { KIND_SECONDS, KIND_DAYS, KIND_ARXIV };

static void add_header(struct body *body, enum kind kind, bool tombstone)
{
    const struct id id = body_id(body, kind == KIND_ARXIV ? ID_ARXIV : ID_OAI);

    body_add(body, tombstone ? STR("<header status=\"deleted\">") : STR("<header>"));
    if (body->flaw != FLAW_NO_ID) {
        body_add(body, STR("<identifier>"));
        body_add(body, id_str(&id));
        body_add(body, STR("</identifier>"));
    }
    if (body->flaw == FLAW_BAD_DATE) {
        body_add(body, STR("<datestamp>0000-00-00T00:00:00</datestamp>"));
    } else if (body->flaw != FLAW_NO_DATE) {
        body_add(body, STR("<datestamp>"));
        if (kind == KIND_SECONDS)
            api_date_add_second(body->out, body->at_us);
        else
            api_date_add_date(body->out, body->at_us);
        body_add(body, STR("</datestamp>"));
    }
    body_add(body, kind == KIND_ARXIV ? STR("<setSpec>physics:cond-mat</setSpec></header>")
                                      : STR("<setSpec>user-sim</setSpec></header>"));
}

static void add_dublin_core(struct body *body)
{
    const struct published published = corpus_published(body->corpus, body->record);
    const struct id id = body_id(body, ID_OAI);

    body_add(body, STR("<oai_dc:dc xmlns:dc=\"http://purl.org/dc/elements/1.1/\" xmlns:oai_dc="
                       "\"http://www.openarchives.org/OAI/2.0/oai_dc/\" xmlns:xsi="
                       "\"http://www.w3.org/2001/XMLSchema-instance\" xsi:schemaLocation="
                       "\"http://www.openarchives.org/OAI/2.0/oai_dc/ "
                       "http://www.openarchives.org/OAI/2.0/oai_dc.xsd\"><dc:title>"));
    body_pick(body, BLOCK_TITLE_XML, body_hash(body, 2));
    body_add(body, STR("</dc:title>"));
    body_pick(body, BLOCK_OAI_PEOPLE, body_hash(body, 6));
    body_pick(body, BLOCK_OAI_DESCRIPTION, body_version_hash(body, 5));
    if (published.year > 0) {
        body_add(body, STR("<dc:date>"));
        if (published.day > 0)
            api_date_add_date(body->out, corpus_published_us(body->corpus, body->record));
        else
            text_add_number(body->out, (uint64_t)published.year);
        body_add(body, STR("</dc:date>"));
    }
    body_add(body, STR("<dc:identifier>https://sim.example.org/records/"));
    text_add_number(body->out, body->record);
    body_add(body, STR("</dc:identifier><dc:identifier>"));
    body_add(body, id_str(&id));
    body_add(body, STR("</dc:identifier>"));
    body_pick(body, BLOCK_OAI_EXTRAS, body_hash(body, 7));
    body_add(body, STR("</oai_dc:dc>"));
}

/* With the history of its versions, as RFC 822 dates. */
static void add_arxiv_raw(struct body *body)
{
    const struct id id = body_id(body, ID_ARXIV);
    const uint32_t first = body->corpus->first[body->record];

    body_add(body,
             STR("<arXivRaw xmlns=\"http://arxiv.org/OAI/arXivRaw/\" xmlns:xsi="
                 "\"http://www.w3.org/2001/XMLSchema-instance\" xsi:schemaLocation="
                 "\"http://arxiv.org/OAI/arXivRaw/ http://arxiv.org/OAI/arXivRaw.xsd\"><id>"));
    body_add(body, str_slice(id_str(&id), STR("oai:arXiv.org:").len, id.len));
    body_add(body, STR("</id>"));
    for (uint32_t v = first; v <= body->version; v++) {
        body_add(body, STR("<version version=\"v"));
        text_add_number(body->out, v - first + 1);
        body_add(body, STR("\"><date>"));
        api_date_add_rfc822(body->out, body->corpus->at_us[v]);
        body_add(body, STR("</date><size>401kb</size><source_type>D</source_type></version>"));
    }
    body_add(body, STR("<title>"));
    body_pick(body, BLOCK_TITLE_XML, body_hash(body, 2));
    body_add(body, STR("</title>"));
    body_pick(body, BLOCK_OAI_ARXIV, body_hash(body, 6));
    body_add(body, STR("<abstract>  "));
    body_pick(body, BLOCK_ABSTRACT_XML, body_version_hash(body, 5));
    body_add(body, STR("\n</abstract></arXivRaw>"));
}

static void write_body(struct body *body, enum kind kind)
{
    const bool tombstone = (body->flags & (VERSION_DELETED | VERSION_MERGED)) != 0;

    body_add(body, STR("<record>"));
    add_header(body, kind, tombstone);
    if (!tombstone) {
        body_add(body, STR("<metadata>"));
        if (kind == KIND_ARXIV)
            add_arxiv_raw(body);
        else
            add_dublin_core(body);
        body_add(body, STR("</metadata>"));
    }
    body_add(body, STR("</record>"));
}

void body_oai(struct body *body)
{
    write_body(body, KIND_SECONDS);
}

void body_oai_days(struct body *body)
{
    write_body(body, KIND_DAYS);
}

void body_arxiv(struct body *body)
{
    write_body(body, KIND_ARXIV);
}
