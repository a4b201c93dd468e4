/* The record of an invented JSON API. Tombstones have no content. */
#include "sim/protocol/body.h"

#include "base/attr.h"
#include "base/instant.h"
#include "sim/util/text_out.h"
#include "sim/world/words.h"

static void make_people(struct buf *out, uint64_t hash, uint32_t index)
{
    const uint32_t count = index % 8;

    buf_add_char(out, '[');
    for (uint32_t i = 0; i < count; i++) {
        const struct person person = words_person(hash_mix(hash + i));

        buf_add(out, i > 0 ? STR(",{\"given\":\"") : STR("{\"given\":\""));
        text_add_json(out, person.given, JSON_PLAIN);
        buf_add(out, STR("\",\"family\":\""));
        text_add_json(out, person.family, i % 2 == 0 ? JSON_PLAIN : JSON_ASCII);
        buf_add(out, STR("\",\"affiliation\":"));
        if (i % 3 == 2) {
            buf_add(out, STR("null}"));
        } else {
            buf_add_char(out, '"');
            text_add_json(out, words_place(hash_mix(hash - i)), JSON_PLAIN);
            buf_add(out, STR("\"}"));
        }
    }
    buf_add_char(out, ']');
}

/* Nested, with every kind of number and some empty values. */
static void make_extras(struct buf *out, uint64_t hash, uint32_t index)
{
    buf_add(out, STR("{\"tags\":["));
    for (uint32_t i = 0; i < index % 5; i++) {
        buf_add(out, i > 0 ? STR(",\"") : STR("\""));
        buf_add(out, words_keyword(hash_mix(hash + i)));
        buf_add_char(out, '"');
    }
    buf_add(out, STR("],\"scores\":{\"a\":-0.0,\"b\":1.5e-7,\"c\":"));
    text_add_number(out, hash);
    buf_add(out, STR(",\"d\":1E+2},\"deep\":[[[{\"x\":[]}]],{}],\"empty\":\"\",\"flag\":"));
    buf_add(out, hash % 2 == 0 ? STR("true}") : STR("false}"));
}

static const struct block_spec blocks[] = {
    { BLOCK_GENERIC_PEOPLE, 64, make_people },
    { BLOCK_GENERIC_EXTRAS, 64, make_extras },
};
const struct block_table body_generic_blocks = { blocks, ARRAY_LEN(blocks) };

static void add_instant(struct buf *out, int64_t at_us)
{
    char text[INSTANT_TEXT_MAX];

    buf_add_char(out, '"');
    buf_add(out, (struct str){ text, instant_format(at_us, text) });
    buf_add_char(out, '"');
}

static void add_state(struct body *body)
{
    buf_add(body->out, (body->flags & VERSION_DELETED) != 0 ? STR(",\"deleted\":true")
                                                            : STR(",\"deleted\":false"));
    if ((body->flags & VERSION_MERGED) != 0) {
        const struct id into =
            id_make(ID_GENERIC, corpus_merged_into(&body->corpus->options, body->record),
                    body->corpus->count);

        buf_add(body->out, STR(",\"merged_into\":\""));
        buf_add(body->out, id_str(&into));
        buf_add_char(body->out, '"');
    } else {
        buf_add(body->out, STR(",\"merged_into\":null"));
    }
}

static void add_record(struct body *body)
{
    const struct id id = body_id(body, ID_GENERIC);
    struct buf *out = body->out;

    if (body->flaw != FLAW_NO_ID) {
        buf_add(out, STR("\"id\":\""));
        buf_add(out, id_str(&id));
        buf_add(out, STR("\","));
    }
    buf_add(out, STR("\"version\":"));
    text_add_number(out, body->ordinal);
    if (body->flaw == FLAW_BAD_DATE) {
        buf_add(out, STR(",\"updated_at\":\"the 31st of Junuary\""));
    } else if (body->flaw != FLAW_NO_DATE) {
        buf_add(out, STR(",\"updated_at\":"));
        add_instant(out, body->at_us);
    }
    buf_add(out, STR(",\"created_at\":"));
    add_instant(out, body->created_us);
    add_state(body);
    if ((body->flags & (VERSION_DELETED | VERSION_MERGED)) == 0) {
        buf_add(out, STR(",\"title\":\""));
        body_pick(body, BLOCK_TITLE_JSON, body_hash(body, 1));
        buf_add(out, STR("\",\"abstract\":\""));
        body_pick(body, BLOCK_ABSTRACT_JSON, body_version_hash(body, 2));
        buf_add(out, STR("\",\"authors\":"));
        body_pick(body, BLOCK_GENERIC_PEOPLE, body_hash(body, 3));
        buf_add(out, STR(",\"extra\":"));
        body_pick(body, BLOCK_GENERIC_EXTRAS, body_version_hash(body, 4));
    }
    buf_add_char(out, '}');
}

void body_generic(struct body *body)
{
    buf_add_char(body->out, '{');
    add_record(body);
}

/* The same with its place in the feed. */
void body_generic_feed(struct body *body)
{
    buf_add(body->out, STR("{\"seq\":"));
    buf_add_i64(body->out, body->sequence);
    buf_add_char(body->out, ',');
    add_record(body);
}
