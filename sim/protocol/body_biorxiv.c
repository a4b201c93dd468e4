/* A version of a preprint as bioRxiv and medRxiv list it. Its date is that of its posting and
 * stays; other members change without it, such as `published`. */
#include "sim/protocol/body.h"

#include "base/attr.h"
#include "base/instant.h"
#include "sim/util/api_date.h"
#include "sim/util/text_out.h"
#include "sim/world/words.h"

static void make_authors(struct buf *out, uint64_t hash, uint32_t index)
{
    const struct person first = words_person(hash);

    buf_add(out, STR("\"authors\":\""));
    for (uint32_t i = 0; i <= index % 6; i++) {
        const struct person person = words_person(hash_mix(hash + i));

        if (i > 0)
            buf_add(out, STR("; "));
        text_add_json(out, person.family, JSON_PLAIN);
        buf_add(out, STR(", "));
        text_add_json(out, person.initials, JSON_PLAIN);
    }
    buf_add(out, STR("\",\"author_corresponding\":\""));
    text_add_json(out, first.given, JSON_PLAIN);
    buf_add_char(out, ' ');
    text_add_json(out, first.family, JSON_PLAIN);
    buf_add(out, STR("\",\"author_corresponding_institution\":\""));
    text_add_json(out, words_place(hash), JSON_PLAIN);
    buf_add_char(out, '"');
}

/* "NA", or a list. */
static void make_funder(struct buf *out, uint64_t hash, uint32_t index)
{
    buf_add(out, STR(",\"funder\":"));
    if (index % 3 != 0) {
        buf_add(out, STR("\"NA\""));
        return;
    }
    buf_add(out, STR("[{\"name\":\""));
    text_add_json(out, words_place(hash), JSON_PLAIN);
    buf_add(out,
            STR("\",\"id\":\"https://ror.org/00rbzpz17\",\"id-type\":\"ROR\",\"award\":\"\"}]"));
}

static const struct block_spec blocks[] = {
    { BLOCK_BIORXIV_AUTHORS, 64, make_authors },
    { BLOCK_BIORXIV_FUNDER, 12, make_funder },
};
const struct block_table body_biorxiv_blocks = { blocks, ARRAY_LEN(blocks) };

static void add_id(struct body *body)
{
    const struct id id = body_id(body, ID_BIORXIV);
    struct str doi = id_str(&id);
    const size_t mark = str_find_char(doi, 'v');

    body_add(body, STR(",\"doi\":\""));
    body_add(body, str_slice(doi, 0, mark));
    body_add(body, STR("\",\"version\":\""));
    body_add(body, str_slice(doi, mark + 1, doi.len));
    body_add(body, STR("\""));
}

static void write_body(struct body *body, struct str server)
{
    body_add(body, STR("{\"title\":\""));
    body_pick(body, BLOCK_TITLE_JSON, body_hash(body, 2));
    body_add(body, STR("\","));
    body_pick(body, BLOCK_BIORXIV_AUTHORS, body_hash(body, 6));
    if (body->flaw != FLAW_NO_ID)
        add_id(body);
    if (body->flaw == FLAW_BAD_DATE) {
        body_add(body, STR(",\"date\":\"2026-02-31\""));
    } else if (body->flaw != FLAW_NO_DATE) {
        body_add(body, STR(",\"date\":\""));
        api_date_add_date(body->out, body->created_us);
        body_add(body, STR("\""));
    }
    body_add(body, STR(",\"type\":\"new results\",\"license\":\"cc_by\",\"category\":"
                       "\"neuroscience\",\"jatsxml\":\"https://www.biorxiv.org//content/early/"));
    text_add_number(body->out, body->record);
    body_add(body, STR(".source.xml\",\"abstract\":\"O_ST_ABSAbstractC_ST_ABS "));
    body_pick(body, BLOCK_ABSTRACT_JSON, body_hash(body, 5));
    body_add(body, STR("\""));
    body_pick(body, BLOCK_BIORXIV_FUNDER, body_hash(body, 7));
    body_add(body, STR(",\"published\":\""));
    if (body->ordinal == 1) {
        body_add(body, STR("NA"));
    } else {
        body_add(body, STR("10.1016/j.sim."));
        text_add_number(body->out, body->version_hash % 100000000);
    }
    body_add(body, STR("\",\"server\":\""));
    body_add(body, server);
    body_add(body, STR("\"}"));
}

void body_biorxiv(struct body *body)
{
    write_body(body, STR("bioRxiv"));
}

void body_medrxiv(struct body *body)
{
    write_body(body, STR("medRxiv"));
}
