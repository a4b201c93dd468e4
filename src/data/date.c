/* The table of date formats, and the entry points that use it. */
#include "data/date.h"

#include <inttypes.h>

#include "base/quote.h"
#include "data/date_read.h"
#include "data/date_scan.h"

/* Of texts that are only digits, auto accepts four of them, a year: 20010915 may be a day or an
 * epoch. */
static bool read_auto(struct str text, struct date *date)
{
    return date_read_rfc3339(text, date) || date_read_datetime(text, date) ||
           date_read_partial(text, date) || date_read_ncbi(text, date) ||
           date_read_medline(text, date) || date_read_rfc822(text, date) ||
           date_read_structured(text, date);
}

const struct date_format date_formats[] = {
    { "auto",
      "Any of the formats below that cannot be confused with another: no epochs, no compact.",
      "2001-09-15T08:30:06Z", read_auto },
    { "rfc3339", "Date and time to the second or finer, with a zone.",
      "2001-09-15T08:30:06.25+02:00", date_read_rfc3339 },
    { "datetime", "Date and time, T or a space between them; without a zone it is UTC.",
      "2001-09-15 08:30", date_read_datetime },
    { "date", "A day.", "2001-09-15", date_read_date },
    { "month", "A month.", "2001-09", date_read_month },
    { "year", "A year of four digits.", "2001", date_read_year },
    { "partial", "A day, a month or a year.", "2001-09", date_read_partial },
    { "ncbi", "With slashes: a year, month or day, or a day and the time in UTC.",
      "2001/09/15 08:30", date_read_ncbi },
    { "medline", "A year, optionally with a season, or with a month by name and a day; or a range.",
      "2001 Sep-Oct", date_read_medline },
    { "rfc822", "The date of mail and HTTP headers, with its zone.",
      "Sat, 15 Sep 2001 08:30:06 GMT", date_read_rfc822 },
    { "compact",
      "Digits only, a day or a day and the time in UTC; a T between them and a final Z "
      "are allowed.",
      "200109150830", date_read_compact },
    { "epoch_s", "Seconds since 1970-01-01T00:00:00Z, optionally with a fraction.", "1000542606",
      date_read_epoch_s },
    { "epoch_ms", "Milliseconds since 1970-01-01T00:00:00Z.", "1000542606000", date_read_epoch_ms },
    { "structured", "A Date of HTTP structured fields: @ and seconds since 1970.", "@1000542606",
      date_read_structured },
};
const size_t date_formats_count = ARRAY_LEN(date_formats);

const struct date_format *date_format_find(struct str name)
{
    for (size_t i = 0; i < date_formats_count; i++) {
        if (str_eq(name, str_of(date_formats[i].name)))
            return &date_formats[i];
    }
    return NULL;
}

bool date_parse(const struct date_format *format, struct str text, struct date *date,
                struct error *err)
{
    if (format->read(text, date))
        return true;
    return error_set(err, ERROR_DATA, "date.syntax", "not a date of format %s (such as %s): %s",
                     format->name, format->example, QUOTE(text));
}

bool date_from_parts(const int64_t *parts, size_t count, struct date *date, struct error *err)
{
    static const enum date_precision precisions[] = { DATE_YEAR, DATE_MONTH, DATE_DAY };
    int64_t whole[3] = { 0, 1, 1 };

    if (count < 1 || count > 3) {
        return error_set(err, ERROR_DATA, "date.syntax",
                         "a date has one to three parts (year, month, day), not %zu", count);
    }
    for (size_t i = 0; i < count; i++)
        whole[i] = parts[i];
    if (whole[0] >= 0 && whole[0] <= 9999 && whole[1] >= 1 && whole[1] <= 12 && whole[2] >= 1 &&
        whole[2] <= 31) {
        const struct civil civil = { .year = (int)whole[0],
                                     .month = (int)whole[1],
                                     .day = (int)whole[2] };

        if (date_make(civil, 0, precisions[count - 1], date))
            return true;
    }
    return error_set(err, ERROR_DATA, "date.syntax",
                     "not a day of the calendar: year %" PRId64 ", month %" PRId64 ", day %" PRId64,
                     whole[0], whole[1], whole[2]);
}
