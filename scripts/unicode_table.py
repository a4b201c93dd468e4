#!/usr/bin/env python3
"""unicode_table.py > src/data/unicode_table.h

Writes the general categories of all code points as runs, from the Unicode data of this Python. Run it by
hand for a newer Unicode; the table is kept in the tree, so that all machines agree.
"""
import sys
import unicodedata

NAMES = ['Cn', 'Cc', 'Cf', 'Co', 'Cs', 'Ll', 'Lm', 'Lo', 'Lt', 'Lu', 'Mc', 'Me', 'Mn', 'Nd', 'Nl',
         'No', 'Pc', 'Pd', 'Pe', 'Pf', 'Pi', 'Po', 'Ps', 'Sc', 'Sk', 'Sm', 'So', 'Zl', 'Zp', 'Zs']
UPPER_EVEN, UPPER_ODD = len(NAMES), len(NAMES) + 1  # Lu and Ll in turn: long runs of Latin, Cyrillic


def turns(categories, at, upper_at):
    """How far Lu and Ll take turns from `at` on, with Lu on the places of upper_at's parity."""
    end = at
    while end < len(categories) and categories[end] == ('Lu' if end % 2 == upper_at else 'Ll'):
        end += 1
    return end


def runs():
    categories = [unicodedata.category(chr(point)) for point in range(0x110000)]
    at = 0
    while at < len(categories):
        end = at
        while end < len(categories) and categories[end] == categories[at]:
            end += 1
        kind = NAMES.index(categories[at])
        for upper_at, code in ((0, UPPER_EVEN), (1, UPPER_ODD)):
            if turns(categories, at, upper_at) >= end + 3:
                end, kind = turns(categories, at, upper_at), code
        yield at, kind
        at = end


def main():
    rows = [f'0x{at:06x}{kind:02x},' for at, kind in runs()]
    print(f'/* Written by scripts/unicode_table.py from Unicode {unicodedata.unidata_version}:'
          ' the first code point of each run, and\n * its category in the last byte. For'
          ' unicode.c only. */')
    print('/* clang-format off */')
    print('static const uint32_t runs[] = {')
    for i in range(0, len(rows), 8):
        print('    ' + ' '.join(rows[i:i + 8]))
    print('};')
    return 0


sys.exit(main())
