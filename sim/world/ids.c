/* Builds and parses the ids of each API. */
#include "sim/world/ids.h"

#include <assert.h>
#include <string.h>

#include "base/attr.h"

/* A block: the records [count * from, count * to) / 16 are called prefix + digits + suffix. */
struct naming {
    enum id_scheme scheme;
    uint32_t from;
    uint32_t to;
    struct str prefix;
    struct str suffix;
    int digits;
    uint64_t base;
};

static const struct naming namings[] = {
    { ID_PUBMED, 0, 16, STR_INIT(""), STR_INIT(""), 8, 30000000 },
    { ID_CROSSREF, 0, 2, STR_INIT("10.1002/(sici)"), STR_INIT("<1::aid-sim>3.0.co;2-y"), 8, 0 },
    { ID_CROSSREF, 2, 7, STR_INIT("10.1016/j.sim.2026."), STR_INIT(""), 8, 0 },
    { ID_CROSSREF, 7, 10, STR_INIT("10.1038/s41586-"), STR_INIT("-x"), 8, 0 },
    { ID_CROSSREF, 10, 14, STR_INIT("10.1371/journal.pone."), STR_INIT(""), 8, 0 },
    { ID_CROSSREF, 14, 16, STR_INIT("10.26434/chemrxiv-2026-"), STR_INIT(".v1"), 8, 0 },
    { ID_OPENALEX, 0, 16, STR_INIT("https://openalex.org/W"), STR_INIT(""), 10, 4000000000 },
    { ID_EUROPEPMC, 0, 13, STR_INIT("MED/"), STR_INIT(""), 8, 30000000 },
    { ID_EUROPEPMC, 13, 16, STR_INIT("PPR/PPR"), STR_INIT(""), 8, 10000000 },
    { ID_DATACITE, 0, 4, STR_INIT("10.5061/dryad."), STR_INIT(""), 8, 0 },
    { ID_DATACITE, 4, 12, STR_INIT("10.5281/zenodo."), STR_INIT(""), 8, 0 },
    { ID_DATACITE, 12, 16, STR_INIT("10.82570/sim-"), STR_INIT("/v1"), 8, 0 },
    { ID_OAI, 0, 16, STR_INIT("oai:sim.example.org:"), STR_INIT(""), 8, 0 },
    { ID_ARXIV, 0, 16, STR_INIT("oai:arXiv.org:26"), STR_INIT(""), 7, 0 },
    { ID_BIORXIV, 0, 16, STR_INIT("10.64898/2026.01.01."), STR_INIT("v1"), 8, 0 },
    { ID_CLINICALTRIALS, 0, 16, STR_INIT("NCT"), STR_INIT(""), 8, 6000000 },
    { ID_DOAJ, 0, 16, STR_INIT("0a1b2c3d4e5f60718293a4b5"), STR_INIT(""), 8, 0 },
    { ID_SEMANTICSCHOLAR, 0, 16, STR_INIT("0a1b2c3d4e5f60718293a4b5c6d7e8f9"), STR_INIT(""), 8, 0 },
    { ID_GENERIC, 0, 16, STR_INIT("r"), STR_INIT(""), 8, 0 },
};

static bool is_in_block(const struct naming *naming, uint32_t record, uint32_t records)
{
    return record >= (uint64_t)records * naming->from / 16 &&
           record < (uint64_t)records * naming->to / 16;
}

static void add(struct id *id, struct str s)
{
    assert(id->len + s.len <= sizeof(id->text));
    memcpy(id->text + id->len, s.data, s.len);
    id->len += s.len;
}

struct id id_make(enum id_scheme scheme, uint32_t record, uint32_t records)
{
    struct id id = { .len = 0 };

    for (size_t i = 0; i < ARRAY_LEN(namings); i++) {
        const struct naming *naming = &namings[i];
        uint64_t number = naming->base + record;
        char digits[16];

        if (naming->scheme != scheme || !is_in_block(naming, record, records))
            continue;
        for (int d = naming->digits - 1; d >= 0; d--, number /= 10)
            digits[d] = (char)('0' + number % 10);
        add(&id, naming->prefix);
        add(&id, (struct str){ digits, (size_t)naming->digits });
        add(&id, naming->suffix);
        if (scheme == ID_ARXIV) { /* 2600.00017 */
            memmove(id.text + id.len - 4, id.text + id.len - 5, 5);
            id.text[id.len - 5] = '.';
            id.len++;
        }
        return id;
    }
    assert(!"the record is in a block");
    return id;
}

/* The digits of an id, at any position. */
static bool number_in(const struct naming *naming, struct str text, uint64_t *number)
{
    struct str digits;
    size_t seen = 0;

    if (text.len < naming->prefix.len + naming->suffix.len ||
        !str_eq_nocase(str_slice(text, 0, naming->prefix.len), naming->prefix) ||
        !str_eq_nocase(str_slice(text, text.len - naming->suffix.len, text.len), naming->suffix))
        return false;
    digits = str_slice(text, naming->prefix.len, text.len - naming->suffix.len);
    *number = 0;
    for (size_t i = 0; i < digits.len; i++) {
        if (digits.data[i] == '.')
            continue;
        if (digits.data[i] < '0' || digits.data[i] > '9' || ++seen > 12)
            return false;
        *number = *number * 10 + (uint64_t)(digits.data[i] - '0');
    }
    return seen == (size_t)naming->digits;
}

bool id_parse(enum id_scheme scheme, struct str text, uint32_t records, uint32_t *record)
{
    for (size_t i = 0; i < ARRAY_LEN(namings); i++) {
        struct naming naming = namings[i];
        uint64_t number;

        if (naming.scheme != scheme)
            continue;
        if (scheme == ID_OPENALEX && str_starts(text, STR("W")))
            naming.prefix = STR("W");
        if (!number_in(&naming, text, &number) || number < naming.base ||
            number - naming.base >= records)
            continue;
        *record = (uint32_t)(number - naming.base);
        if (is_in_block(&naming, *record, records)) {
            const struct id made = id_make(scheme, *record, records);

            return scheme == ID_OPENALEX || str_eq_nocase(id_str(&made), text);
        }
    }
    return false;
}
