/* unicode: the general category of a code point, of Unicode 14. */
#ifndef PATRA_DATA_UNICODE_H
#define PATRA_DATA_UNICODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* In the order of their two-letter names; scripts/unicode_table.py has the same list. */
enum unicode_category {
    UNICODE_CN,
    UNICODE_CC,
    UNICODE_CF,
    UNICODE_CO,
    UNICODE_CS,
    UNICODE_LL,
    UNICODE_LM,
    UNICODE_LO,
    UNICODE_LT,
    UNICODE_LU,
    UNICODE_MC,
    UNICODE_ME,
    UNICODE_MN,
    UNICODE_ND,
    UNICODE_NL,
    UNICODE_NO,
    UNICODE_PC,
    UNICODE_PD,
    UNICODE_PE,
    UNICODE_PF,
    UNICODE_PI,
    UNICODE_PO,
    UNICODE_PS,
    UNICODE_SC,
    UNICODE_SK,
    UNICODE_SM,
    UNICODE_SO,
    UNICODE_ZL,
    UNICODE_ZP,
    UNICODE_ZS,
};

/* Unassigned code points, and numbers beyond U+10FFFF, are UNICODE_CN. */
enum unicode_category unicode_category(uint32_t point);

/* The categories of a name, a bit (1 << category) each: "Lu" is one, "L" all letters. False when
 * it is not the name of a category. */
bool unicode_categories(struct str name, uint32_t *set);

#endif
