/* redact: takes a secret out of a text, however the text writes it.
 *
 * Whoever is shown a secret may repeat it: an upstream in an error page, a proxy, a bus or a
 * database in its refusal. They escape it as their format wants. So the text is read in layers,
 * each undoing one way of writing, and the secret is looked for in every layer:
 *
 *      text    {"seen":"c2VjcmV0XC9rZXk="}        what is found here is replaced here
 *      base64  {"seen":"secret\/key"}
 *      JSON    {"seen":"secret/key"}              found: the whole word above becomes ***
 *
 * Undone, up to REDACT_DEPTH one after the other: escapes of JSON and C (\u002f, \/, \x2f), of URLs
 * (%2F), of HTML and XML (&#47; &#x2f; &sol;), of mail (=2F); base64 of both alphabets, also in the
 * middle of a longer word; hexadecimal digits. Upper and lower case are the same, and so are "+"
 * and a blank. A text that was cut within the secret loses the beginning of it, too.
 *
 * This is the only place that knows how a secret may be written. Compressed or encrypted texts are
 * not read.
 */
#ifndef PATRA_DATA_REDACT_H
#define PATRA_DATA_REDACT_H

#include "base/error.h"
#include "base/str.h"

/* Shorter values are not secrets, and would be found everywhere. */
enum { REDACT_BYTES_MIN = 4, REDACT_DEPTH = 3 };

/* Of redact_body(): what it looks at in one go, and the bytes that a byte may be written with
 * (&#x0000073;). */
enum { REDACT_WINDOW_BYTES = 1 << 16, REDACT_GROWTH_MAX = 12 };

/* In place; the text gets no longer. Returns its new length. When memory is short, nothing but ***
 * is left. */
size_t redact_text(char *text, size_t len, struct str secret);

/* The same for a text of any length, a whole response: one layer below the text and no more, and
 * memory for a window of it. */
size_t redact_body(char *text, size_t len, struct str secret);

void redact_error(struct error *err, struct str secret);

#endif
