/* Numbers: from text to integers and doubles, and from doubles to their shortest text. */
#include "data/json_number.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The parts of a number's text: sign, digits without their point, and the power of ten of the last
 * digit. "-12.50e3" is negative, "1250", 1. */
struct parts {
    bool negative;
    struct str whole;    /* digits before the point */
    struct str fraction; /* digits after it */
    int64_t exponent;    /* as written after e, clamped to what matters */
};

/* Texts have at most 2^30 digits, so beyond this the exponent decides. */
enum { EXPONENT_CLAMP = 2000000000 };

static struct str take_digits(const char **at, const char *end)
{
    const char *begin = *at;

    while (*at < end && **at >= '0' && **at <= '9')
        (*at)++;
    return (struct str){ begin, (size_t)(*at - begin) };
}

static int64_t exponent_of(const char *at, const char *end)
{
    const bool negative = *at == '-';
    int64_t value = 0;

    if (*at == '-' || *at == '+')
        at++;
    for (; at < end; at++) {
        value = value * 10 + (*at - '0');
        if (value > EXPONENT_CLAMP)
            value = EXPONENT_CLAMP;
    }
    return negative ? -value : value;
}

static struct parts take_apart(struct str text)
{
    const char *at = text.data;
    const char *const end = text.data + text.len;
    struct parts parts = { 0 };

    assert(text.len > 0);
    if (*at == '-') {
        parts.negative = true;
        at++;
    }
    parts.whole = take_digits(&at, end);
    parts.fraction = (struct str){ at, 0 };
    if (at < end && *at == '.') {
        at++;
        parts.fraction = take_digits(&at, end);
    }
    if (at < end)
        parts.exponent = exponent_of(at + 1, end);
    return parts;
}

static char digit_at(const struct parts *parts, size_t i)
{
    return i < parts->whole.len ? parts->whole.data[i] : parts->fraction.data[i - parts->whole.len];
}

bool json_number_i64(struct str text, int64_t *value)
{
    const struct parts parts = take_apart(text);
    size_t count = parts.whole.len + parts.fraction.len;
    int64_t power = parts.exponent - (int64_t)parts.fraction.len;
    int64_t sum = 0;

    while (count > 0 && digit_at(&parts, count - 1) == '0') {
        count--;
        power++;
    }
    if (count == 0) {
        *value = 0;
        return true;
    }
    if (power < 0)
        return false; /* the last digit that is not 0 is after the point */
    /* Summed as a negative number, because the negative range is one larger. */
    for (size_t i = 0; i < count; i++) {
        if (__builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_sub_overflow(sum, digit_at(&parts, i) - '0', &sum))
            return false;
    }
    for (; power > 0; power--) {
        if (__builtin_mul_overflow(sum, 10, &sum))
            return false;
    }
    if (!parts.negative && sum == INT64_MIN)
        return false;
    *value = parts.negative ? sum : -sum;
    return true;
}

/* Up to 15 digits and a power of ten up to 22 are exact doubles, and one operation on two exact
 * doubles rounds once, hence correctly. Nearly all numbers of real records are read here. */
static bool double_fast(const struct parts *parts, double *value)
{
    static const double tens[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
    const size_t count = parts->whole.len + parts->fraction.len;
    const int64_t power = parts->exponent - (int64_t)parts->fraction.len;
    int64_t sum = 0;

    if (count > 15 || power < -22 || power > 22)
        return false;
    for (size_t i = 0; i < count; i++)
        sum = sum * 10 + (digit_at(parts, i) - '0');
    *value = power < 0 ? (double)sum / tens[-power] : (double)sum * tens[power];
    if (parts->negative)
        *value = -*value;
    return true;
}

/* No double and no midpoint between two has more than 768 significant digits. After these it only
 * matters whether anything but zeros follows, which one more digit records. */
enum { DIGITS_MAX = 770 };

static double double_exact(const struct parts *parts)
{
    const size_t count = parts->whole.len + parts->fraction.len;
    char text[DIGITS_MAX + 64];
    size_t first = 0, kept, len = 0;
    bool more = false;

    while (first < count && digit_at(parts, first) == '0')
        first++;
    kept = count - first < DIGITS_MAX ? count - first : DIGITS_MAX;
    if (parts->negative)
        text[len++] = '-';
    text[len++] = '0';
    for (size_t i = first; i < first + kept; i++)
        text[len++] = digit_at(parts, i);
    for (size_t i = first + kept; i < count && !more; i++)
        more = digit_at(parts, i) != '0';
    if (more)
        text[len++] = '1';
    (void)snprintf(text + len, sizeof(text) - len, "e%" PRId64,
                   parts->exponent - (int64_t)parts->fraction.len +
                       (int64_t)(count - first - kept) - (more ? 1 : 0));
    return strtod(text, NULL);
}

double json_number_double(struct str text)
{
    const struct parts parts = take_apart(text);
    double value;

    if (double_fast(&parts, &value))
        return value;
    return double_exact(&parts);
}

/* ---- double to text ---- */

/* A decimal number 0.D1D2...Dn * 10^point; digits without trailing zeros. */
struct decimal {
    char digits[20];
    int count;
    int point;
};

/* The nearest decimal of `count` digits; glibc's printf rounds exactly. */
static struct decimal decimal_of(double value, int count)
{
    struct decimal d;
    char text[40];

    (void)snprintf(text, sizeof(text), "%.*e", count - 1, value);
    d.digits[0] = text[0];
    if (count > 1)
        memcpy(d.digits + 1, text + 2, (size_t)count - 1);
    d.count = count;
    d.point = (int)strtol(strchr(text, 'e') + 1, NULL, 10) + 1;
    return d;
}

static bool reads_back(const struct decimal *d, double value)
{
    char text[40];

    (void)snprintf(text, sizeof(text), "0.%.*se%d", d->count, d->digits, d->point);
    return strtod(text, NULL) == value;
}

/* One more in the last digit. */
static void step_up(struct decimal *d)
{
    int i = d->count - 1;

    while (i >= 0 && d->digits[i] == '9')
        d->digits[i--] = '0';
    if (i >= 0) {
        d->digits[i]++;
        return;
    }
    d->digits[0] = '1'; /* 99 became 00: 100, whose last zero is not needed */
    d->point++;
}

/* Finds a decimal of `count` digits that reads back to value. The nearest one is the first
 * candidate. But doubles are denser below a power of two than above it, so there the decimal above
 * may read back where the nearer one below does not: 2^-44 is 5.684341886080802e-14. */
static bool decimal_try(double value, int count, struct decimal *d)
{
    *d = decimal_of(value, count);
    if (reads_back(d, value))
        return true;
    step_up(d);
    return reads_back(d, value);
}

static struct decimal decimal_shortest(double value)
{
    /* For a normal double that has a text of up to 15 digits, printing 15 digits returns it, with
     * trailing zeros. Only for subnormal ones can fewer digits be another number. */
    int count = value < 2.2250738585072014e-308 ? 1 : 15;
    struct decimal d;

    while (!decimal_try(value, count, &d)) {
        count++;
        assert(count <= 17);
    }
    while (d.count > 1 && d.digits[d.count - 1] == '0')
        d.count--;
    return d;
}

/* Number::toString of ECMAScript, with its names: k digits, n the place of the point. */
static size_t layout(const struct decimal *d, char *out)
{
    const int k = d->count, n = d->point;
    const char *const digits = d->digits;

    if (k <= n && n <= 21)
        return (size_t)sprintf(out, "%.*s%.*s", k, digits, n - k, "00000000000000000000");
    if (0 < n && n <= 21)
        return (size_t)sprintf(out, "%.*s.%.*s", n, digits, k - n, digits + n);
    if (-6 < n && n <= 0)
        return (size_t)sprintf(out, "0.%.*s%.*s", -n, "00000", k, digits);
    if (k == 1)
        return (size_t)sprintf(out, "%ce%+d", digits[0], n - 1);
    return (size_t)sprintf(out, "%c.%.*se%+d", digits[0], k - 1, digits + 1, n - 1);
}

size_t json_number_format(double value, char text[JSON_NUMBER_TEXT_MAX])
{
    struct decimal d;
    size_t len = 0;

    assert(isfinite(value));
    if (fabs(value) < 1e15 && value == (double)(int64_t)value) /* also -0, which becomes 0 */
        return (size_t)sprintf(text, "%" PRId64, (int64_t)value);
    if (value < 0)
        text[len++] = '-';
    d = decimal_shortest(fabs(value));
    return len + layout(&d, text + len);
}
