/* mask: takes personal data out of texts that quote a source: errors, excerpts, details.
 *
 *      jane.doe@example.org        j***@example.org
 *      email=jane.doe%40example.org  email=j***%40example.org
 *      +49 (30) 123-4567           +49***67
 *      tel:0301234567              tel:***67
 *
 * The domain of an address and the ends of a number are kept, so that texts can be compared and a
 * person can guess who is meant; neither is enough to write or to call.
 *
 * A phone number is read narrowly, because error texts are full of numbers that people need: after
 * a "+" that begins a word, 8 to 15 digits; or after "tel:", 5 to 15. So ids (31000001), DOIs,
 * ISSNs, UUIDs, dates and their offsets (+01:00) are kept.
 *
 * Call it after secrets were masked: a secret may hold an "@", and must be found whole.
 */
#ifndef PATRA_BASE_MASK_H
#define PATRA_BASE_MASK_H

#include "base/arena.h"
#include "base/str.h"

/* In place; returns the new length, which is never more than len. A text that was masked before
 * stays as it is. */
size_t mask_personal(char *text, size_t len);

/* Of a text that must stay as it is; data NULL: the arena is full. */
struct str mask_personal_copy(struct arena *arena, struct str text);

#endif
