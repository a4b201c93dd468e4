/* lines: a stream of bytes, cut into lines, with room for the longest of them and no more.
 *
 *      for (;;) {
 *          switch (lines_next(&lines, &line)) {
 *          case LINES_LINE:  ... line.text, until the next call
 *          case LINES_MORE:  lines_room(&lines, &room, err); read into it; lines_add(&lines, len);
 *                            or, at the end of the stream, lines_end(&lines);
 *          case LINES_END:   that was all
 *          }
 *      }
 *
 * Of an XML file (is_xml), the pieces are the elements below its root, as they are; what is between
 * them is left out; a text there is noted (has_text). `head` makes a document of any of them: the
 * XML declaration and the root's first tag, without a DOCTYPE. libxml2 has no way to the bytes of
 * an element of a document that is not in memory, so elements are cut here by their tags, comments,
 * CDATA and instructions; whether they are well-formed is for the parser of that document to say.
 * Encodings that are not ASCII in their first half are not recognised.
 *
 * A line ends with LF; a CR before it does not belong to it. The last one may lack its LF
 * (is_open). A byte order mark at the beginning is left out. Bytes are counted with what ends and
 * precedes a line, so that the sum of all lines is the place in the stream.
 */
#ifndef PATRA_ENGINE_FETCH_LINES_H
#define PATRA_ENGINE_FETCH_LINES_H

#include "base/arena.h"
#include "base/attr.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "port/http.h"

/* The longest line: an event's largest payload fits, escaped twice. */
enum { LINES_BYTES_MAX = 32 << 20 };

struct lines {
    struct arena *arena;
    char *data;
    size_t room;
    size_t at;       /* where the next line begins */
    size_t searched; /* up to here there is no LF */
    size_t len;
    bool has_begun; /* the first bytes of the stream were seen */
    bool is_ended;

    bool is_xml;
    int depth;       /* of elements that are open */
    bool in_piece;   /* one below the root is */
    size_t piece;    /* where it begins, after `at` */
    bool is_closed;  /* the root was */
    bool has_text;   /* between the pieces, or after the root */
    struct buf head; /* the XML declaration and the root's first tag */
};

struct line {
    struct str text;
    size_t bytes;
    bool is_open;
};

enum lines_found { LINES_LINE, LINES_MORE, LINES_END };

void lines_init(struct lines *lines, struct arena *arena, bool is_xml);

/* From the middle of a stream, where a line begins: no byte order mark is expected. */
void lines_restart(struct lines *lines, bool is_beginning);

enum lines_found lines_next(struct lines *lines, struct line *line);

/* Room for at least one byte. "lines.limit" (L2): a line is longer than LINES_BYTES_MAX. */
bool lines_room(struct lines *lines, struct http_room *room, struct error *err) MUST_CHECK;
void lines_add(struct lines *lines, size_t len);
void lines_end(struct lines *lines);

/* At the end: false where an XML file ends before its root does. */
bool lines_are_whole(const struct lines *lines);

/* Ends a document that begins with lines->head. */
void lines_close_document(const struct lines *lines, struct buf *document);

/* elements.c: lines_next() of an XML file. */
enum lines_found elements_next(struct lines *lines, struct line *line);

#endif
