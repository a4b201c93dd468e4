/* The summary of a PubMed record: the value that esummary's JSON has under the record's uid. */
#include "base/attr.h"
#include "base/instant.h"
#include "sim/protocol/body.h"
#include "sim/util/api_date.h"
#include "sim/util/text_out.h"
#include "sim/world/words.h"

static void make_summary_journal(struct buf *out, uint64_t hash, uint32_t index)
{
    const struct journal journal = words_journal(hash);

    buf_add(out, STR("\"source\":\""));
    text_add_json(out, journal.abbreviation, JSON_PLAIN);
    buf_printf(out, "\",\"volume\":\"%u\",\"issue\":\"%u\",\"pages\":\"%u-%u\",", index + 3,
               index % 12 + 1, index * 7 + 1, index * 7 + 9);
    buf_add(out, STR("\"lang\":[\"eng\"],\"nlmuniqueid\":\""));
    buf_add(out, journal.nlm_id);
    buf_add(out, STR("\",\"issn\":\""));
    buf_add(out, journal.issn);
    buf_add(out, STR("\",\"essn\":\""));
    buf_add(out, journal.eissn);
    buf_add(out, STR("\",\"pubtype\":[\"Journal Article\"],\"recordstatus\":\"PubMed - indexed for "
                     "MEDLINE\",\"pubstatus\":\"258\",\"fulljournalname\":\""));
    text_add_json(out, journal.title, JSON_PLAIN);
    buf_add(out, STR("\",\"attributes\":[\"Has Abstract\"],\"pmcrefcount\":\"\",\"elocationid\":"
                     "\"\",\"doctype\":\"citation\",\"srccontriblist\":[],\"booktitle\":\"\","
                     "\"medium\":\"\",\"edition\":\"\",\"publisherlocation\":\"\","
                     "\"publishername\":\"\",\"srcdate\":\"\",\"reportnumber\":\"\","
                     "\"availablefromurl\":\"\",\"locationlabel\":\"\",\"doccontriblist\":[],"
                     "\"docdate\":\"\",\"bookname\":\"\",\"chapter\":\"\",\"vernaculartitle\":"
                     "\"\",\"references\":[]"));
}

static void make_summary_authors(struct buf *out, uint64_t hash, uint32_t index)
{
    const uint32_t count = index % 9 + 1;

    buf_add(out, STR("\"authors\":["));
    for (uint32_t i = 0; i < count; i++) {
        const struct person person = words_person(hash_mix(hash + i));

        buf_add(out, i > 0 ? STR(",{\"name\":\"") : STR("{\"name\":\""));
        text_add_json(out, person.family, JSON_PLAIN);
        buf_add_char(out, ' ');
        buf_add(out, person.initials);
        buf_add(out, STR("\",\"authtype\":\"Author\",\"clusterid\":\"\"}"));
    }
    buf_add(out, STR("],\"lastauthor\":\""));
    text_add_json(out, words_person(hash_mix(hash + count - 1)).family, JSON_PLAIN);
    buf_add(out, STR("\",\"sortfirstauthor\":\""));
    text_add_json(out, words_person(hash_mix(hash)).family, JSON_PLAIN);
    buf_add_char(out, '"');
}

static const struct block_spec blocks[] = {
    { BLOCK_PUBMED_SUMMARY_JOURNAL, 48, make_summary_journal },
    { BLOCK_PUBMED_SUMMARY_AUTHORS, 90, make_summary_authors },
};
const struct block_table body_pubmed_summary_blocks = { blocks, ARRAY_LEN(blocks) };

/* "2026/01/02 03:04" */
static void add_minute(struct buf *out, int64_t at_us)
{
    const struct civil civil = instant_to_civil(at_us);

    api_date_add_slashed(out, at_us);
    buf_add_char(out, ' ');
    text_add_padded(out, (uint64_t)civil.hour, 2);
    buf_add_char(out, ':');
    text_add_padded(out, (uint64_t)civil.minute, 2);
}

static void add_history(struct body *body)
{
    const int64_t zone_us = body->corpus->options.pubmed_zone_us;

    if (body->flaw == FLAW_NO_DATE)
        return;
    body_add(body, STR(",\"history\":[{\"pubstatus\":\"entrez\",\"date\":\""));
    if (body->flaw == FLAW_BAD_DATE)
        body_add(body, STR("2026/99/99"));
    else
        add_minute(body->out, corpus_entrez_us(body->corpus, body->record) + zone_us);
    body_add(body, STR("\"},{\"pubstatus\":\"medline\",\"date\":\""));
    add_minute(body->out, body->at_us + zone_us);
    body_add(body, STR("\"}]"));
}

void body_pubmed_summary(struct body *body)
{
    const struct id id = body_id(body, ID_PUBMED);
    const struct published published = corpus_published(body->corpus, body->record);

    body_add(body, STR("{"));
    if (body->flaw != FLAW_NO_ID) {
        body_add(body, STR("\"uid\":\""));
        body_add(body, id_str(&id));
        body_add(body, STR("\","));
    }
    body_add(body, STR("\"pubdate\":\""));
    if (published.year > 0)
        text_add_number(body->out, (uint64_t)published.year);
    body_add(body, STR("\",\"epubdate\":\"\",\"sortpubdate\":\""));
    add_minute(body->out, body->created_us);
    body_add(body, STR("\",\"title\":\""));
    body_pick(body, BLOCK_TITLE_JSON, body_hash(body, 2));
    body_add(body, STR("\",\"sorttitle\":\""));
    body_pick(body, BLOCK_TITLE_JSON, body_hash(body, 2));
    body_add(body, STR("\","));
    body_pick(body, BLOCK_PUBMED_SUMMARY_AUTHORS, body_hash(body, 6));
    body_add(body, STR(","));
    body_pick(body, BLOCK_PUBMED_SUMMARY_JOURNAL, body_hash(body, 1));
    body_add(body, STR(",\"articleids\":[{\"idtype\":\"pubmed\",\"idtypen\":1,\"value\":\""));
    body_add(body, id_str(&id));
    body_add(body, STR("\"}]"));
    add_history(body);
    body_add(body, STR("}"));
}
