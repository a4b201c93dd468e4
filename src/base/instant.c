/* instant: calendar arithmetic on the proleptic Gregorian calendar, and formatting. */
#include "base/instant.h"

#include <assert.h>
#include <string.h>

/* Years are counted from March here, so that the leap day is the last of its year; an era is the
 * 400 years after which the calendar repeats. */
enum { DAYS_PER_ERA = 146097, DAYS_TO_1970 = 719468 };

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t days_from_civil(int64_t year, int month, int day)
{
    const int64_t y = month <= 2 ? year - 1 : year;
    const int64_t era = floor_div(y, 400);
    const int64_t year_of_era = y - era * 400;
    const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    const int64_t day_of_era =
        year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;

    return era * DAYS_PER_ERA + day_of_era - DAYS_TO_1970;
}

int64_t instant_day_number(int64_t at_us)
{
    return floor_div(at_us, US_PER_DAY);
}

int64_t instant_floor(int64_t at_us, int64_t step_us)
{
    return floor_div(at_us, step_us) * step_us;
}

/* Days and seconds of a day fit in an int, which divides faster: exports have millions of them. */
struct civil instant_to_civil(int64_t at_us)
{
    const int64_t day_number = instant_day_number(at_us);
    const int64_t in_day_us = at_us - day_number * US_PER_DAY;
    const int second_of_day = (int)(in_day_us / US_PER_SECOND);
    const int shifted = (int)day_number + DAYS_TO_1970;
    const int era = (shifted >= 0 ? shifted : shifted - (DAYS_PER_ERA - 1)) / DAYS_PER_ERA;
    const int day_of_era = shifted - era * DAYS_PER_ERA;
    const int year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    const int day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const int march_month = (5 * day_of_year + 2) / 153;
    const int month = march_month < 10 ? march_month + 3 : march_month - 9;

    return (struct civil){
        .year = year_of_era + era * 400 + (month <= 2 ? 1 : 0),
        .month = month,
        .day = day_of_year - (153 * march_month + 2) / 5 + 1,
        .hour = second_of_day / 3600,
        .minute = second_of_day / 60 % 60,
        .second = second_of_day % 60,
        .microsecond = (int)(in_day_us - second_of_day * US_PER_SECOND),
    };
}

int64_t instant_from_civil(struct civil civil)
{
    assert(civil_is_valid(civil));
    return days_from_civil(civil.year, civil.month, civil.day) * US_PER_DAY +
           civil.hour * US_PER_HOUR + civil.minute * US_PER_MINUTE + civil.second * US_PER_SECOND +
           civil.microsecond;
}

int instant_days_in_month(int year, int month)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

    assert(month >= 1 && month <= 12);
    if (month == 2 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0))
        return 29;
    return days[month - 1];
}

bool civil_is_valid(struct civil c)
{
    return c.year >= 0 && c.year <= 9999 && c.month >= 1 && c.month <= 12 && c.day >= 1 &&
           c.day <= instant_days_in_month(c.year, c.month) && c.hour >= 0 && c.hour <= 23 &&
           c.minute >= 0 && c.minute <= 59 && c.second >= 0 && c.second <= 59 &&
           c.microsecond >= 0 && c.microsecond <= 999999;
}

int instant_weekday(int64_t at_us)
{
    const int64_t shifted = instant_day_number(at_us) + 3; /* 1970-01-01 was a Thursday */

    return (int)(shifted - floor_div(shifted, 7) * 7);
}

/* Plans and exports contain many instants: printf would take most of the time of writing one. */
static char *put(char *at, int value)
{
    static const char PAIRS[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";

    memcpy(at, PAIRS + 2 * (size_t)value, 2);
    return at + 2;
}

size_t instant_format(int64_t at_us, char text[INSTANT_TEXT_MAX])
{
    const struct civil c = instant_to_civil(at_us);
    char *at = text;

    assert(c.year >= 0 && c.year <= 9999);
    at = put(put(at, c.year / 100), c.year % 100);
    *at++ = '-';
    at = put(at, c.month);
    *at++ = '-';
    at = put(at, c.day);
    *at++ = 'T';
    at = put(at, c.hour);
    *at++ = ':';
    at = put(at, c.minute);
    *at++ = ':';
    at = put(at, c.second);
    if (c.microsecond != 0) {
        *at++ = '.';
        at = put(put(put(at, c.microsecond / 10000), c.microsecond / 100 % 100),
                 c.microsecond % 100);
    }
    *at++ = 'Z';
    *at = '\0';
    return (size_t)(at - text);
}
