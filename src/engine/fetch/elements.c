/* The elements below the root of an XML file, tag by tag:
 *
 *      <?xml?> <!DOCTYPE> <Set> <Article> ... </Article> <!-- --> <Article/> </Set>
 *      head               head  piece                             piece
 */
#include <string.h>

#include "base/attr.h"
#include "engine/fetch/lines.h"

enum token {
    TOKEN_NONE, /* more bytes are needed */
    TOKEN_OTHER,
    TOKEN_DECLARATION,
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_EMPTY, /* <a/> */
};

static size_t end_of(struct str text, struct str mark)
{
    const size_t at = str_find(text, mark);

    return at < text.len ? at + mark.len : 0;
}

/* After the > of a tag or a DOCTYPE; those in quotes and in [ ] do not count. 0: there is none. */
static size_t end_of_tag(struct str text)
{
    char quote = '\0';
    int brackets = 0;

    for (size_t i = 0; i < text.len; i++) {
        const char c = text.data[i];

        if (quote != '\0')
            quote = c == quote ? '\0' : quote;
        else if (c == '"' || c == '\'')
            quote = c;
        else if (c == '[' || c == ']')
            brackets += c == '[' ? 1 : -1;
        else if (c == '>' && brackets <= 0)
            return i + 1;
    }
    return 0;
}

/* What `text`, which begins with <, begins with, and its length. */
static enum token token_of(struct str text, size_t *len)
{
    static const struct {
        struct str begin;
        struct str end;
        enum token token;
    } marks[] = { { STR_INIT("<!--"), STR_INIT("-->"), TOKEN_OTHER },
                  { STR_INIT("<![CDATA["), STR_INIT("]]>"), TOKEN_OTHER },
                  { STR_INIT("<?xml "), STR_INIT("?>"), TOKEN_DECLARATION },
                  { STR_INIT("<?"), STR_INIT("?>"), TOKEN_OTHER } };

    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        if (str_starts(text, marks[i].begin)) {
            *len = end_of(text, marks[i].end);
            return *len > 0 ? marks[i].token : TOKEN_NONE;
        }
        if (str_starts(marks[i].begin, text))
            return TOKEN_NONE;
    }
    *len = end_of_tag(text);
    if (*len == 0)
        return TOKEN_NONE;
    if (str_starts(text, STR("<!")))
        return TOKEN_OTHER;
    if (str_starts(text, STR("</")))
        return TOKEN_CLOSE;
    return text.data[*len - 2] == '/' ? TOKEN_EMPTY : TOKEN_OPEN;
}

static bool is_between(const struct lines *lines)
{
    return lines->is_closed || (lines->depth == 1 && !lines->in_piece);
}

/* Returns whether a piece ends with the token at lines->searched. */
static bool take(struct lines *lines, enum token token, struct str text)
{
    if (token == TOKEN_DECLARATION && lines->depth == 0 && lines->head.len == 0)
        buf_add(&lines->head, text);
    if (str_starts(text, STR("<![CDATA[")) && is_between(lines))
        lines->has_text = true;
    if (token == TOKEN_OTHER || token == TOKEN_DECLARATION)
        return false;
    if (lines->depth == 0) {
        buf_add(&lines->head, text);
        lines->is_closed = token != TOKEN_OPEN;
        lines->depth = token == TOKEN_OPEN;
        return false;
    }
    if (lines->depth == 1 && token == TOKEN_CLOSE) {
        lines->depth = 0;
        lines->is_closed = true;
        return false;
    }
    if (lines->depth == 1 && !lines->in_piece) {
        lines->in_piece = true;
        lines->piece = lines->searched - lines->at;
    }
    lines->depth += token == TOKEN_OPEN ? 1 : token == TOKEN_CLOSE ? -1 : 0;
    return lines->depth == 1;
}

enum lines_found elements_next(struct lines *lines, struct line *line)
{
    for (;;) {
        struct str text = { lines->data + lines->searched, lines->len - lines->searched };
        const char *begin = text.len > 0 ? memchr(text.data, '<', text.len) : NULL;
        enum token token;
        size_t len = 0;

        lines->searched = begin != NULL ? (size_t)(begin - lines->data) : lines->len;
        text.len = (size_t)(lines->data + lines->searched - text.data);
        lines->has_text |= is_between(lines) && str_trim(text).len > 0;
        text = (struct str){ lines->data + lines->searched, lines->len - lines->searched };
        token = begin != NULL ? token_of(text, &len) : TOKEN_NONE;
        if (token == TOKEN_NONE)
            return lines->is_ended ? LINES_END : LINES_MORE;
        if (!take(lines, token, str_slice(text, 0, len))) {
            lines->searched += len;
            continue;
        }
        lines->searched += len;
        lines->in_piece = false;
        line->text = str_slice((struct str){ lines->data, lines->searched },
                               lines->at + lines->piece, lines->searched);
        line->bytes = lines->searched - lines->at;
        line->is_open = false;
        lines->at = lines->searched;
        return LINES_LINE;
    }
}

/* The root's last tag may not have come yet: its name is that of the first, which may be empty. */
void lines_close_document(const struct lines *from, struct buf *body)
{
    struct str head = buf_str(&from->head);
    size_t begin = head.len;

    while (begin > 0 && head.data[begin - 1] != '<')
        begin--;
    head = str_slice(head, begin, head.len);
    if (head.len > 1 && head.data[head.len - 2] == '/')
        return;
    for (size_t i = 0; i < head.len; i++) {
        if (strchr(" \t\r\n/>", head.data[i]) != NULL)
            head.len = i;
    }
    buf_add(body, STR("</"));
    buf_add(body, head);
    buf_add_char(body, '>');
}
