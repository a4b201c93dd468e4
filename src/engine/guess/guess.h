/* guess: a first source file, from a URL and one answer to it.
 *
 *      URL ──────── guess_url.c ─── secrets, window, page size, page number ──╮
 *      answer ── guess_tree*.c ─┬── guess_items.c     the list of records     ├── guess_write.c ──
 * YAML ├── guess_fields.c    their id and date       │ ├── guess_total.c     the number of matches
 * │ ╰── guess_next.c      the next page ──────────╯
 *
 * Every part collects candidates, gives each points for its name, its values and its place, and
 * takes the one that has the most. There is no rule for one provider. What has too few points is
 * not guessed: the file then has a TODO at that place, and `missing` a sentence about it.
 *
 * Pure: bytes in, guesses out. Names and values of the answer are written into the file quoted; a
 * secret of the URL is written as a reference to the environment, never as its value.
 */
#ifndef PATRA_ENGINE_GUESS_GUESS_H
#define PATRA_ENGINE_GUESS_GUESS_H

#include "core/source_codes.h"
#include "data/http_message.h"

struct xml;

enum guess_certainty { GUESS_NONE, GUESS_WEAK, GUESS_LIKELY, GUESS_SURE };

struct guess_found {
    enum guess_certainty certainty;
    struct str path; /* JSONPath or XPath */
    struct str why;  /* for people, on one line */
};

/* What a parameter of the URL is for. */
enum guess_role {
    GUESS_PLAIN,
    GUESS_SECRET,
    GUESS_CONTACT, /* a mail address */
    GUESS_SIZE,    /* records per page */
    GUESS_PLACE,   /* of the page: its number, offset or token */
};

struct guess_param {
    struct str name;  /* decoded */
    struct str value; /* decoded */
    struct str text;  /* as a template: dates are ${...window...} */
    enum guess_role role;
};

struct guess_date_text { /* how the URL writes the dates of its window */
    struct str pattern;  /* see data/date_pattern.h; empty: there is none */
    enum granularity granularity;
    struct str near; /* what is before the first one: from-index-date */
    bool has_end;
    bool shows_end; /* by its bracket: whether the end belongs to the window */
};

struct guess_namespace {
    struct str prefix;
    struct str uri;
};
enum { GUESS_NAMESPACES_MAX = 8, GUESS_PARAMS_MAX = 64 };

struct guess_page {
    enum pagination_type type;
    struct guess_found next; /* path: of the next token or URL; empty for others and for a header */
    struct str next_header;
    struct str param; /* the parameter that has the place; empty: it is part of the path, or none */
    struct str initial;
    int64_t base;       /* of the first page's number */
    int64_t size;       /* 0: unknown */
    bool is_size_fixed; /* there is no parameter for it */
};

struct guess_missing {
    struct str *items;
    size_t count;
};

struct guess {
    struct str name;
    struct str base_url;
    struct str path;   /* as a template */
    struct str entity; /* the name of the endpoint */
    bool is_plain_http;
    bool has_userinfo;
    struct guess_param params[GUESS_PARAMS_MAX];
    size_t param_count;
    struct guess_date_text window;
    struct str order_by; /* the value of a parameter that sorts; empty: none */

    bool has_answer;
    bool is_xml;
    bool is_oai; /* OAI-PMH: a token excludes all other parameters */
    struct guess_namespace namespaces[GUESS_NAMESPACES_MAX];
    size_t namespace_count;
    struct guess_found items;
    size_t item_count;
    bool are_ids; /* items are texts or numbers: ids without records */
    struct guess_found id;
    struct str id_second; /* the other part of an id that is not unique alone; empty: none */
    struct str id_hint;   /* a member that may belong to the id; empty: none */
    struct guess_found updated_at;
    struct str date_format;
    bool is_date_everywhere; /* every item has it */
    struct guess_found total;
    struct guess_found has_more;
    struct str deleted;
    struct guess_page page;
    double per_second; /* what the answer's headers allow; 0: unknown */
    struct guess_missing missing;
};

struct guess_input {
    struct str name; /* of the source */
    struct str url;
    const struct http_response *reply; /* NULL: only the URL is known */
    const struct xml *xml;
    int64_t now_us;
};

/* "guess.url" (L2) for a URL that cannot be requested; "guess.status" for an answer that is not
 * a success (L1 where a later one may be); those of body_check, json_parse and xml_open (L2) for
 * one that cannot be read. */
bool guess_make(struct guess *guess, struct arena *arena, const struct guess_input *input,
                struct error *err) MUST_CHECK;

/* The source file. It has no faults that are errors, whatever the URL and the answer were. */
void guess_write(const struct guess *guess, struct buf *out);

/* The names of parameters of the URL that have secrets: for the request that asks for the answer.
 */
bool guess_is_secret(struct str param_name, struct str value);

#endif
