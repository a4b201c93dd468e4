/* A paper of Semantic Scholar. Its only date is that of its publication, often partly known; there
 * is none of its last change. */
#include "sim/protocol/body.h"

#include "base/attr.h"
#include "sim/util/api_date.h"
#include "sim/util/text_out.h"
#include "sim/world/words.h"

static void make_authors(struct buf *out, uint64_t hash, uint32_t index)
{
    buf_add(out, STR(",\"authors\":["));
    for (uint32_t i = 0; i < index % 6; i++) {
        const struct person person = words_person(hash_mix(hash + i));

        buf_printf(out, "%s{\"authorId\":\"%u\",\"name\":\"", i > 0 ? "," : "",
                   hash_below(hash_mix(hash - i), 99999999));
        text_add_json(out, person.initials, JSON_PLAIN);
        buf_add(out, STR(". "));
        text_add_json(out, person.family, JSON_PLAIN);
        buf_add(out, STR("\"}"));
    }
    buf_add_char(out, ']');
}

static const struct block_spec blocks[] = {
    { BLOCK_SEMANTICSCHOLAR_AUTHORS, 64, make_authors },
};
const struct block_table body_semanticscholar_blocks = { blocks, ARRAY_LEN(blocks) };

static void add_dates(struct body *body)
{
    const struct published published = corpus_published(body->corpus, body->record);

    body_add(body, STR(",\"year\":"));
    if (published.year > 0)
        text_add_number(body->out, (uint64_t)published.year);
    else
        body_add(body, STR("null"));
    body_add(body, STR(",\"publicationDate\":"));
    if (body->flaw == FLAW_BAD_DATE) {
        body_add(body, STR("\"2026-02-31\""));
    } else if (published.day == 0 || body->flaw == FLAW_NO_DATE) {
        body_add(body, STR("null"));
    } else {
        body_add(body, STR("\""));
        api_date_add_date(body->out, corpus_published_us(body->corpus, body->record));
        body_add(body, STR("\""));
    }
}

void body_semanticscholar(struct body *body)
{
    const struct id id = body_id(body, ID_SEMANTICSCHOLAR);

    body_add(body, STR("{"));
    if (body->flaw != FLAW_NO_ID) {
        body_add(body, STR("\"paperId\":\""));
        body_add(body, id_str(&id));
        body_add(body, STR("\","));
    }
    body_add(body, STR("\"externalIds\":{\"DOI\":\"10.1016/j.sim."));
    text_add_number(body->out, body->record);
    body_add(body, STR("\",\"CorpusId\":"));
    text_add_number(body->out, 200000000 + (uint64_t)body->record);
    body_add(body, STR("},\"corpusId\":"));
    text_add_number(body->out, 200000000 + (uint64_t)body->record);
    body_add(body, STR(",\"title\":\""));
    body_pick(body, BLOCK_TITLE_JSON, body_hash(body, 2));
    body_add(body, STR("\",\"abstract\":"));
    if (body->record_hash % 3 == 0) {
        body_add(body, STR("null"));
    } else {
        body_add(body, STR("\""));
        body_pick(body, BLOCK_ABSTRACT_JSON, body_version_hash(body, 5));
        body_add(body, STR("\""));
    }
    body_add(body, STR(",\"venue\":\"\""));
    add_dates(body);
    body_add(body, STR(",\"citationCount\":"));
    text_add_number(body->out, body->version_hash % 1000);
    body_pick(body, BLOCK_SEMANTICSCHOLAR_AUTHORS, body_hash(body, 6));
    body_add(body, STR("}"));
}
