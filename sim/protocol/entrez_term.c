/* Parses PubMed's query terms into ranges of dates and UIDs. */
#include "sim/protocol/entrez_term.h"

#include "base/attr.h"
#include "sim/util/api_date.h"

static bool order_of(struct str field, enum view_order *order)
{
    static const struct {
        struct str name;
        enum view_order order;
    } fields[] = {
        { STR_INIT("CRDT"), ORDER_CREATED },
        { STR_INIT("Date - Create"), ORDER_CREATED },
        { STR_INIT("EDAT"), ORDER_ENTREZ },
        { STR_INIT("Date - Entry"), ORDER_ENTREZ },
        { STR_INIT("MDAT"), ORDER_UPDATED },
        { STR_INIT("LR"), ORDER_UPDATED },
        { STR_INIT("Date - Modification"), ORDER_UPDATED },
        { STR_INIT("PDAT"), ORDER_PUBLISHED },
        { STR_INIT("DP"), ORDER_PUBLISHED },
        { STR_INIT("Date - Publication"), ORDER_PUBLISHED },
    };

    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        if (str_eq_nocase(fields[i].name, field)) {
            *order = fields[i].order;
            return true;
        }
    }
    return false;
}

static void narrow(struct view_range *range, struct view_range by)
{
    if (by.from_us > range->from_us)
        range->from_us = by.from_us;
    if (by.to_us < range->to_us)
        range->to_us = by.to_us;
}

static bool narrow_dates(struct view_query *query, enum view_order order, struct str from,
                         struct str to, int64_t zone_us)
{
    /* Publication dates are days and have no time zone. */
    const int64_t shift_us = order == ORDER_PUBLISHED ? 0 : zone_us;
    struct api_date first, last;

    if (!api_date_parse(from, &first) || !api_date_parse(to, &last) || first.unit > API_DATE_DAY ||
        last.unit > API_DATE_DAY)
        return false;
    narrow(&query->ranges[order],
           (struct view_range){ first.from_us - shift_us, last.to_us - shift_us });
    return true;
}

static bool narrow_uids(struct view_query *query, struct str from, struct str to, uint32_t base)
{
    int64_t first, last;

    if (!str_to_i64(from, &first) || !str_to_i64(to, &last))
        return false;
    first = first > base ? first - base : 0;
    last = last >= base ? last - base + 1 : 0;
    if (first > UINT32_MAX - 1)
        first = UINT32_MAX - 1;
    if (last > UINT32_MAX)
        last = UINT32_MAX;
    if ((uint32_t)first > query->record_from)
        query->record_from = (uint32_t)first;
    if ((uint32_t)last < query->record_to)
        query->record_to = (uint32_t)last;
    return true;
}

/* One value, quoted or plain, and the [field] after it, if any. */
struct atom {
    struct str value;
    struct str field;
};

static bool is_gap(char c)
{
    return c == ' ' || c == '(' || c == ')' || c == '\t' || c == '\n';
}

static void skip_gaps(struct str *rest)
{
    while (rest->len > 0 && is_gap(rest->data[0]))
        *rest = str_slice(*rest, 1, rest->len);
}

static struct atom take_atom(struct str *rest)
{
    struct atom atom = { .value = STR(""), .field = STR("") };
    size_t end = 0;

    skip_gaps(rest);
    if (str_starts(*rest, STR("\""))) {
        *rest = str_slice(*rest, 1, rest->len);
        atom.value = str_cut(rest, '"');
    } else {
        while (end < rest->len && !is_gap(rest->data[end]) && rest->data[end] != ':' &&
               rest->data[end] != '[')
            end++;
        atom.value = str_slice(*rest, 0, end);
        *rest = str_slice(*rest, end, rest->len);
    }
    if (str_starts(*rest, STR("["))) {
        *rest = str_slice(*rest, 1, rest->len);
        atom.field = str_trim(str_cut(rest, ']'));
    }
    return atom;
}

bool entrez_term_parse(struct str term, int64_t zone_us, uint32_t base, struct view_query *query)
{
    while (skip_gaps(&term), term.len > 0) {
        struct atom from = take_atom(&term);
        struct atom to = from;
        enum view_order order;

        if (str_eq(from.value, STR("OR")) && from.field.len == 0)
            query->any = true;
        skip_gaps(&term);
        if (str_starts(term, STR(":"))) {
            term = str_slice(term, 1, term.len);
            to = take_atom(&term);
        } else if (from.value.len == 0 && from.field.len == 0 && term.len > 0) {
            term = str_slice(term, 1, term.len); /* a stray bracket */
        }
        if (to.field.len == 0)
            to.field = from.field;
        if (str_eq_nocase(to.field, STR("UID")) || str_eq_nocase(to.field, STR("PMID"))) {
            if (!narrow_uids(query, from.value, to.value, base))
                return false;
        } else if (order_of(to.field, &order) &&
                   !narrow_dates(query, order, from.value, to.value, zone_us)) {
            return false;
        }
    }
    return true;
}

bool entrez_dates_parse(struct str datetype, struct str mindate, struct str maxdate,
                        int64_t zone_us, struct view_query *query)
{
    enum view_order order = ORDER_PUBLISHED;

    if (datetype.len > 0 && !order_of(datetype, &order))
        return false;
    return narrow_dates(query, order, mindate, maxdate, zone_us);
}
