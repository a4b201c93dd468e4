/* An article of the DOAJ. Times have seconds. */
#include "sim/protocol/body.h"

#include "base/attr.h"
#include "base/instant.h"
#include "sim/util/api_date.h"
#include "sim/util/text_out.h"
#include "sim/world/words.h"

static void make_authors(struct buf *out, uint64_t hash, uint32_t index)
{
    buf_add(out, STR(",\"author\":["));
    for (uint32_t i = 0; i <= index % 5; i++) {
        const struct person person = words_person(hash_mix(hash + i));

        buf_add(out, i > 0 ? STR(",{\"name\":\"") : STR("{\"name\":\""));
        text_add_json(out, person.given, JSON_PLAIN);
        buf_add_char(out, ' ');
        text_add_json(out, person.family, JSON_PLAIN);
        buf_add_char(out, '"');
        if (i % 2 == 0) {
            buf_add(out, STR(",\"affiliation\":"));
            text_add_json_string(out, words_place(hash_mix(hash - i)));
        }
        buf_add_char(out, '}');
    }
    buf_add_char(out, ']');
}

static void make_journal(struct buf *out, uint64_t hash, uint32_t index)
{
    const struct journal journal = words_journal(hash);

    buf_add(out, STR(",\"journal\":{\"volume\":\""));
    text_add_number(out, index % 40 + 1);
    buf_add(out, STR("\",\"country\":\""));
    buf_add(out, words_country(hash));
    buf_add(out, STR("\",\"issns\":[\""));
    buf_add(out, journal.eissn);
    buf_add(out, STR("\"],\"publisher\":"));
    text_add_json_string(out, journal.publisher);
    buf_add(out, STR(",\"language\":[\"EN\"],\"title\":"));
    text_add_json_string(out, journal.title);
    buf_add_char(out, '}');
}

static const struct block_spec blocks[] = {
    { BLOCK_DOAJ_AUTHORS, 64, make_authors },
    { BLOCK_DOAJ_JOURNAL, 64, make_journal },
};
const struct block_table body_doaj_blocks = { blocks, ARRAY_LEN(blocks) };

static void add_bibjson(struct body *body)
{
    body_add(body, STR("\"bibjson\":{\"identifier\":[{\"id\":\"10.1016/j.sim."));
    text_add_number(body->out, body->record);
    body_add(body, STR("\",\"type\":\"doi\"}],\"title\":\""));
    body_pick(body, BLOCK_TITLE_JSON, body_hash(body, 2));
    body_add(body, STR("\",\"year\":\""));
    text_add_number(body->out, (uint64_t)instant_to_civil(body->created_us).year);
    body_add(body, STR("\""));
    body_pick(body, BLOCK_DOAJ_JOURNAL, body_hash(body, 6));
    body_pick(body, BLOCK_DOAJ_AUTHORS, body_hash(body, 7));
    body_add(body, STR(",\"abstract\":\""));
    body_pick(body, BLOCK_ABSTRACT_JSON, body_version_hash(body, 5));
    body_add(body, STR("\"}"));
}

void body_doaj(struct body *body)
{
    const struct id id = body_id(body, ID_DOAJ);

    body_add(body, STR("{"));
    if (body->flaw == FLAW_BAD_DATE) {
        body_add(body, STR("\"last_updated\":\"2026-02-31T25:00:00Z\","));
    } else if (body->flaw != FLAW_NO_DATE) {
        body_add(body, STR("\"last_updated\":\""));
        api_date_add_second(body->out, body->at_us);
        body_add(body, STR("\","));
    }
    add_bibjson(body);
    if (body->flaw != FLAW_NO_ID) {
        body_add(body, STR(",\"id\":\""));
        body_add(body, id_str(&id));
        body_add(body, STR("\""));
    }
    body_add(body, STR(",\"created_date\":\""));
    api_date_add_second(body->out, body->created_us);
    body_add(body, STR("\"}"));
}
