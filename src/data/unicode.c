/* A binary search in the table of runs. */
#include "data/unicode.h"

#include <stddef.h>

#include "base/attr.h"
#include "data/unicode_table.h"

enum { UPPER_EVEN = UNICODE_ZS + 1, UPPER_ODD };

static const char names[][3] = { "Cn", "Cc", "Cf", "Co", "Cs", "Ll", "Lm", "Lo", "Lt", "Lu",
                                 "Mc", "Me", "Mn", "Nd", "Nl", "No", "Pc", "Pd", "Pe", "Pf",
                                 "Pi", "Po", "Ps", "Sc", "Sk", "Sm", "So", "Zl", "Zp", "Zs" };

enum unicode_category unicode_category(uint32_t point)
{
    size_t low = 0, high = ARRAY_LEN(runs); /* the run lies in [low, high) */
    uint32_t kind;

    if (point > 0x10FFFF)
        return UNICODE_CN;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;

        if (runs[middle] >> 8 <= point)
            low = middle;
        else
            high = middle;
    }
    kind = runs[low] & 0xFF;
    if (kind == UPPER_EVEN)
        return point % 2 == 0 ? UNICODE_LU : UNICODE_LL;
    if (kind == UPPER_ODD)
        return point % 2 == 1 ? UNICODE_LU : UNICODE_LL;
    return (enum unicode_category)kind;
}

bool unicode_categories(struct str name, uint32_t *set)
{
    *set = 0;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if ((name.len == 1 || (name.len == 2 && name.data[1] == names[i][1])) &&
            name.data[0] == names[i][0])
            *set |= UINT32_C(1) << i;
    }
    return *set != 0;
}
