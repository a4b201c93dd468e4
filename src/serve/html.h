/* html: HTML and SVG into a buf, always well-formed, everything escaped.
 *
 *      struct html h;
 *
 *      html_init(&h, &body);
 *      html_start(&h, "td");
 *      html_attr(&h, "class", STR("hole"));
 *      html_text(&h, task->last_error);
 *      html_end(&h);                           <td class="hole">it said &lt;no&gt;</td>
 *      html_finish(&h);
 *
 * There is no way to write markup that is not an element, an attribute or a text of these calls:
 * whatever a source sent stays a text. Names of elements and attributes are literals of the
 * program. A link is a path on this server (html_href), so that no text becomes a script.
 *
 * Every misuse is an assertion: an attribute after a text, an end too many. Only the buf can fail.
 */
#ifndef PATRA_SERVE_HTML_H
#define PATRA_SERVE_HTML_H

#include "base/buf.h"

enum { HTML_DEPTH_MAX = 32 };

struct html {
    struct buf *out;
    const char *open[HTML_DEPTH_MAX];
    unsigned depth;
    bool in_tag; /* attributes may follow */
};

void html_init(struct html *h, struct buf *out); /* with the doctype */

void html_start(struct html *h, const char *element);
void html_attr(struct html *h, const char *name, struct str value);
void html_attrf(struct html *h, const char *name, const char *format, ...) PRINTF_LIKE(3, 4);
void html_flag(struct html *h, const char *name); /* an attribute without a value */
void html_text(struct html *h, struct str text);
void html_textf(struct html *h, const char *format, ...) PRINTF_LIKE(2, 3);
void html_end(struct html *h); /* of the innermost element; those without content need it too */

/* href of a path on this server: asserts that it begins with one slash. */
void html_href(struct html *h, struct str path);

/* Short forms. */
void html_class(struct html *h, const char *element, const char *class); /* starts it */
void html_element(struct html *h, const char *element, struct str text); /* the whole of it */

void html_finish(const struct html *h); /* asserts that everything was ended */

#endif
