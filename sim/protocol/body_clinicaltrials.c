/* A study of ClinicalTrials.gov, version 2 of its API. Dates are days; some are only months. */
#include "sim/protocol/body.h"

#include "base/attr.h"
#include "sim/util/api_date.h"
#include "sim/util/text_out.h"
#include "sim/world/words.h"

static void make_conditions(struct buf *out, uint64_t hash, uint32_t index)
{
    buf_add(out, STR(",\"conditionsModule\":{\"conditions\":["));
    for (uint32_t i = 0; i <= index % 4; i++) {
        buf_add(out, i > 0 ? STR(",\"") : STR("\""));
        buf_add(out, words_keyword(hash_mix(hash + i)));
        buf_add_char(out, '"');
    }
    buf_add(out, STR("]},\"designModule\":{\"studyType\":\"INTERVENTIONAL\",\"phases\":["));
    buf_add(out, index % 2 == 0 ? STR("\"PHASE2\"") : STR("\"NA\""));
    buf_printf(out, "],\"enrollmentInfo\":{\"count\":%u,\"type\":\"ESTIMATED\"}}",
               index % 9 == 0 ? 99999999 : hash_below(hash, 2000));
}

static void make_sponsor(struct buf *out, uint64_t hash, uint32_t index)
{
    (void)index;
    buf_add(out, STR(",\"sponsorCollaboratorsModule\":{\"leadSponsor\":{\"name\":"));
    text_add_json_string(out, words_place(hash));
    buf_add(out, STR(",\"class\":\"OTHER\"}}"));
}

static const struct block_spec blocks[] = {
    { BLOCK_CLINICALTRIALS_CONDITIONS, 72, make_conditions },
    { BLOCK_CLINICALTRIALS_SPONSOR, 64, make_sponsor },
};
const struct block_table body_clinicaltrials_blocks = { blocks, ARRAY_LEN(blocks) };

static void add_status(struct body *body)
{
    static const struct str statuses[] = { STR_INIT("RECRUITING"), STR_INIT("COMPLETED"),
                                           STR_INIT("TERMINATED") };

    body_add(body, STR(",\"statusModule\":{\"statusVerifiedDate\":\"2026-01\",\"overallStatus\":"
                       "\""));
    body_add(body, statuses[body->version_hash % ARRAY_LEN(statuses)]);
    body_add(body, STR("\",\"studyFirstPostDateStruct\":{\"date\":\""));
    api_date_add_date(body->out, body->created_us);
    body_add(body, STR("\",\"type\":\"ESTIMATED\"}"));
    if (body->flaw == FLAW_BAD_DATE) {
        body_add(body, STR(",\"lastUpdatePostDateStruct\":{\"date\":\"2026-02-31\"}"));
    } else if (body->flaw != FLAW_NO_DATE) {
        body_add(body, STR(",\"lastUpdatePostDateStruct\":{\"date\":\""));
        api_date_add_date(body->out, body->at_us);
        body_add(body, STR("\",\"type\":\"ACTUAL\"}"));
    }
    body_add(body, STR("}"));
}

void body_clinicaltrials(struct body *body)
{
    const struct id id = body_id(body, ID_CLINICALTRIALS);

    body_add(body, STR("{\"protocolSection\":{\"identificationModule\":{"));
    if (body->flaw != FLAW_NO_ID) {
        body_add(body, STR("\"nctId\":\""));
        body_add(body, id_str(&id));
        body_add(body, STR("\","));
    }
    body_add(body, STR("\"briefTitle\":\""));
    body_pick(body, BLOCK_TITLE_JSON, body_hash(body, 2));
    body_add(body, STR("\"}"));
    add_status(body);
    body_pick(body, BLOCK_CLINICALTRIALS_SPONSOR, body_hash(body, 6));
    body_add(body, STR(",\"descriptionModule\":{\"briefSummary\":\""));
    body_pick(body, BLOCK_ABSTRACT_JSON, body_version_hash(body, 5));
    body_add(body, STR("\"}"));
    body_pick(body, BLOCK_CLINICALTRIALS_CONDITIONS, body_hash(body, 7));
    body_add(body, STR("},\"derivedSection\":{\"miscInfoModule\":{\"versionHolder\":\"2026-01-01\"}"
                       "},\"hasResults\":"));
    body_add(body, body->version_hash % 4 == 0 ? STR("true}") : STR("false}"));
}
