/* The guess as a source file: each line that was guessed says why, and how sure that is. */
#include <inttypes.h>
#include <stdio.h>

#include "base/attr.h"
#include "data/utf8.h"
#include "engine/guess/guess.h"
#include "engine/guess/guess_words.h"
#include "spec/setting_value.h"

enum { SIZE_OTHERWISE = 100, ENV_NAME_MAX = 64 };

static const char *certainty_name(enum guess_certainty certainty)
{
    switch (certainty) {
    case GUESS_SURE:
        return "sure";
    case GUESS_LIKELY:
        return "likely";
    case GUESS_WEAK:
        return "weak";
    case GUESS_NONE:
        break;
    }
    return "none";
}

/* A reason, up to the end of the line. What YAML takes for the end of a line is left out. */
static void write_why(struct buf *out, enum guess_certainty certainty, struct str why)
{
    const char *at = why.data, *end = at + why.len;

    buf_printf(out, " # %s: ", certainty_name(certainty));
    while (at < end) {
        const char *from = at;
        const uint32_t point = utf8_next(&at, end);
        const bool is_harmless =
            (point >= 0x20 && point < 0x7F) || (point > 0xA0 && point < 0x2000);

        if (is_harmless)
            buf_add(out, (struct str){ from, (size_t)(at - from) });
        else
            buf_add_char(out, '?');
    }
    buf_add_char(out, '\n');
}

/* ---- names ---- */

/* The name of the source as the beginning of a variable's: my-api is MY_API. */
static void write_env(const struct guess *guess, struct buf *out, const char *suffix)
{
    buf_add(out, STR("env:"));
    for (size_t i = 0; i < guess->name.len && i < ENV_NAME_MAX; i++) {
        const char c = guess->name.data[i];

        buf_add_char(out, c == '-' ? '_' : c >= 'a' && c <= 'z' ? (char)(c - 32) : c);
    }
    buf_printf(out, "_%s", suffix);
}

static const struct guess_param *param_with(const struct guess *guess, enum guess_role role,
                                            const struct guess_param *after)
{
    const size_t from = after == NULL ? 0 : (size_t)(after - guess->params) + 1;

    for (size_t i = from; i < guess->param_count; i++) {
        if (guess->params[i].role == role)
            return &guess->params[i];
    }
    return NULL;
}

/* ---- the top ---- */

static void write_head(const struct guess *guess, struct buf *out)
{
    buf_add(out, STR("# Written by `patra source new` from "));
    buf_add(out, guess->has_answer ? STR("a URL and one answer to it") : STR("a URL alone"));
    buf_add(out, STR(". sure, likely, weak: how certain a guess is.\n"
                     "# Check each of them, do what is marked TODO, then: patra source lint FILE, "
                     "patra source test FILE --live --pages 3\n"));
    for (size_t i = 0; i < guess->missing.count; i++)
        buf_printf(out, "# TODO %.*s\n", STR_ARG(guess->missing.items[i]));
    buf_add(out, STR("\nsource: "));
    setting_print_text(guess->name, out);
    buf_add(out, STR("\n\n"));
}

static void write_params(const struct guess *guess, struct buf *out)
{
    const struct guess_param *secret = param_with(guess, GUESS_SECRET, NULL);
    const bool has_contact = param_with(guess, GUESS_CONTACT, NULL) != NULL;
    int number = 1;

    if (secret != NULL)
        secret = param_with(guess, GUESS_SECRET, secret); /* the first one is in auth */
    if (!has_contact && secret == NULL)
        return;
    buf_add(out, STR("params:\n"));
    if (has_contact)
        buf_add(out, STR("  contact: { value: \"env:PATRA_CONTACT\", required: true } # your mail "
                         "address\n"));
    for (; secret != NULL; secret = param_with(guess, GUESS_SECRET, secret)) {
        buf_printf(out, "  secret%d: { value: \"", ++number);
        write_env(guess, out, "SECRET");
        buf_printf(out, "%d\", required: true }\n", number);
    }
    buf_add_char(out, '\n');
}

static void write_redact(const struct guess *guess, struct buf *out)
{
    const struct guess_param *param = param_with(guess, GUESS_SECRET, NULL);
    const char *separator = "  redact_names: [";

    if (param != NULL)
        param = param_with(guess, GUESS_SECRET, param);
    if (param == NULL)
        return;
    for (; param != NULL; param = param_with(guess, GUESS_SECRET, param)) {
        buf_add(out, str_of(separator));
        setting_print_text(param->name, out);
        separator = ", ";
    }
    buf_add(out, STR("]\n"));
}

static void write_http(const struct guess *guess, struct buf *out)
{
    const struct guess_param *contact = param_with(guess, GUESS_CONTACT, NULL);

    buf_add(out, STR("http:\n  base_url: "));
    setting_print_text(guess->base_url, out);
    buf_add_char(out, '\n');
    if (guess->is_plain_http)
        buf_add(out, STR("  allow_plain_http: true # TODO does the API have https?\n"));
    if (contact != NULL)
        buf_add(out, STR("  user_agent: \"patra (mailto:${params.contact})\"\n"));
    write_redact(guess, out);
    if (contact != NULL)
        buf_add(out, STR("  query:\n"));
    for (; contact != NULL; contact = param_with(guess, GUESS_CONTACT, contact)) {
        buf_add(out, STR("    "));
        setting_print_text(contact->name, out);
        buf_add(out, STR(": \"${params.contact}\"\n"));
    }
    buf_add_char(out, '\n');
}

static void write_auth(const struct guess *guess, struct buf *out)
{
    const struct guess_param *secret = param_with(guess, GUESS_SECRET, NULL);

    if (secret != NULL) {
        buf_add(out, STR("# The value in the URL is not written here: set the variable.\n"
                         "auth: { type: api_key, location: query, name: "));
        setting_print_text(secret->name, out);
        buf_add(out, STR(", secret: \""));
        write_env(guess, out, "API_KEY\" }\n\n");
    } else if (guess->has_userinfo) {
        buf_add(out, STR("# User and password of the URL are not written here: set the variables.\n"
                         "auth: { type: basic, username: \""));
        write_env(guess, out, "USER\", password: \"");
        write_env(guess, out, "PASSWORD\" }\n\n");
    }
}

static void write_rate(const struct guess *guess, struct buf *out)
{
    const double least = 0.0001, most = 10000, polite = 2;

    if (guess->per_second >= least && guess->per_second <= most)
        buf_printf(out,
                   "# The answer's headers allow provider_limit. TODO does the documentation too?\n"
                   "rate: { per_second: %.6g, provider_limit: %.6g, scope: host }\n\n",
                   guess->per_second < polite ? guess->per_second : polite, guess->per_second);
    else
        buf_add(out, STR("# TODO the rate that the API's documentation allows\n"
                         "rate: { per_second: 1, scope: host }\n\n"));
}

/* ---- the request ---- */

/* Whether a request sends the window. A date in what proved to be a token is not one. */
static bool has_window(const struct guess *guess)
{
    bool has = str_find(guess->path, STR("(window.")) < guess->path.len;

    for (size_t i = 0; i < guess->param_count && !has; i++)
        has = guess->params[i].role == GUESS_PLAIN &&
              str_find(guess->params[i].text, STR("(window.")) < guess->params[i].text.len;
    return has && guess->window.pattern.len > 0;
}

static const char *place_template(enum pagination_type type)
{
    return type == PAGINATION_PAGE     ? "${page.no}"
           : type == PAGINATION_OFFSET ? "${page.offset}"
                                       : "${page.token}";
}

static bool is_size_sent(const struct guess *guess)
{
    return guess->page.type != PAGINATION_SINGLE && param_with(guess, GUESS_SIZE, NULL) != NULL;
}

static bool is_token(const struct guess *guess)
{
    return guess->page.type == PAGINATION_TOKEN;
}

static bool is_expression(struct str text)
{
    return str_starts(text, STR("${")) && str_ends(text, STR("}")) &&
           str_find_char(str_slice(text, 2, text.len), '$') == text.len - 2;
}

/* In OAI-PMH a request with a token has nothing else but its verb. A text that is a template only
 * in part cannot be put into another one, and stays as it is. */
static void write_unless(struct buf *out, struct str text)
{
    struct buf inner;

    buf_init(&inner, out->arena, (size_t)1 << 16);
    buf_add(&inner, STR("${unless(page.token, "));
    if (is_expression(text))
        buf_add(&inner, str_slice(text, 2, text.len - 1));
    else {
        buf_add_char(&inner, '\'');
        for (size_t i = 0; i < text.len; i++) {
            if (text.data[i] == '\'' || text.data[i] == '\\')
                buf_add_char(&inner, '\\');
            buf_add_char(&inner, text.data[i]);
        }
        buf_add_char(&inner, '\'');
    }
    buf_add(&inner, STR(")}"));
    setting_print_text(buf_str(&inner), out);
}

static void write_query_line(const struct guess *guess, const struct guess_param *param,
                             struct buf *out)
{
    const bool is_size = param->role == GUESS_SIZE && is_size_sent(guess);
    const bool is_exclusive =
        guess->is_oai && is_token(guess) && !str_eq(param->name, STR("verb")) &&
        (is_expression(param->text) || str_find(param->text, STR("${")) == param->text.len);

    buf_add(out, STR("      "));
    setting_print_text(param->name, out);
    buf_add(out, STR(": "));
    if (param->role == GUESS_PLACE)
        buf_printf(out, "\"%s\"", place_template(guess->page.type));
    else if (is_size)
        buf_add(out, STR("\"${page.size}\""));
    else if (is_exclusive)
        write_unless(out, param->text);
    else
        setting_print_text(param->text, out);
    buf_add_char(out, '\n');
}

/* Where neither the URL nor the records have a date, a source needs a parameter for the window. */
static bool needs_window_param(const struct guess *guess)
{
    return !has_window(guess) && guess->updated_at.path.len == 0;
}

static bool is_param_new(const struct guess *guess)
{
    return guess->page.param.len > 0 && guess->page.type != PAGINATION_URL &&
           guess->page.type != PAGINATION_SINGLE && param_with(guess, GUESS_PLACE, NULL) == NULL;
}

static void write_line(struct buf *out, struct str name, const char *text)
{
    buf_add(out, STR("      "));
    setting_print_text(name, out);
    buf_printf(out, ": \"%s\"\n", text);
}

/* The first secret is in auth; the others are parameters. */
static void write_secrets(const struct guess *guess, struct buf *out)
{
    const struct guess_param *secret = param_with(guess, GUESS_SECRET, NULL);
    char text[32];
    int number = 1;

    while (secret != NULL && (secret = param_with(guess, GUESS_SECRET, secret)) != NULL) {
        (void)snprintf(text, sizeof(text), "${params.secret%d}", ++number);
        write_line(out, secret->name, text);
    }
}

static void write_query(const struct guess *guess, struct buf *out)
{
    const size_t before = out->len;
    size_t empty;

    buf_add(out, STR("    query:\n"));
    empty = out->len;
    for (size_t i = 0; i < guess->param_count; i++) {
        if (guess->params[i].role != GUESS_CONTACT && guess->params[i].role != GUESS_SECRET)
            write_query_line(guess, &guess->params[i], out);
    }
    write_secrets(guess, out);
    if (is_param_new(guess)) {
        if (!guess->is_oai)
            buf_add(out, STR("      # TODO is this the parameter's name?\n"));
        write_line(out, guess->page.param, place_template(guess->page.type));
    }
    if (needs_window_param(guess)) {
        buf_add(out, STR("      # TODO the parameter that filters by date of change\n"));
        write_line(out, STR("TODO_updated_from"), "${datetime(window.from)}");
    }
    if (out->len == empty)
        out->len = before;
}

/* ---- pages ---- */

static void write_order(const struct guess *guess, struct buf *out)
{
    if (guess->order_by.len == 0 && has_window(guess))
        return;
    if (guess->order_by.len == 0 && needs_window_param(guess))
        return;
    buf_add(out, STR("      order_by: "));
    if (guess->order_by.len > 0) {
        setting_print_text(guess->order_by, out);
        buf_add(out, STR(" # from the URL\n"));
    } else
        buf_add(out, STR("unknown # TODO ask for a stable order, and write it here\n"));
}

static void write_size(const struct guess *guess, struct buf *out)
{
    const bool is_counted =
        guess->page.type == PAGINATION_PAGE || guess->page.type == PAGINATION_OFFSET;

    if (is_size_sent(guess)) {
        buf_printf(out,
                   "      size: %" PRId64
                   " # from the URL. TODO size_max: the most that the API allows\n",
                   guess->page.size);
        return;
    }
    if (!is_counted)
        return;
    buf_printf(
        out,
        "      size: %zu # the items of this answer\n"
        "      size_fixed: true # TODO the URL has no parameter for the size: is there one?\n",
        guess->item_count > 0 ? guess->item_count : (size_t)SIZE_OTHERWISE);
}

static void write_page(const struct guess *guess, struct buf *out)
{
    const struct guess_page *page = &guess->page;
    const struct str type = code_of(&PAGINATION_TYPE_CODES, (int)page->type);

    buf_add(out, STR("    page:\n      type: "));
    for (size_t i = 0; i < type.len; i++)
        buf_add_char(out, type.data[i] >= 'A' && type.data[i] <= 'Z' ? (char)(type.data[i] | 0x20)
                                                                     : type.data[i]);
    if (page->type == PAGINATION_SINGLE)
        buf_add(out, STR(" # TODO nothing shows how the next page is requested\n"));
    else
        write_why(out, page->next.certainty, page->next.why);
    if (page->type == PAGINATION_PAGE)
        buf_printf(out, "      base: %" PRId64 "\n", page->base);
    if (page->next.path.len > 0) {
        buf_add(out, STR("      next: "));
        setting_print_text(page->next.path, out);
        buf_add_char(out, '\n');
    }
    if (page->next_header.len > 0)
        buf_printf(out, "      next_header: %.*s\n", STR_ARG(page->next_header));
    if (page->initial.len > 0 && is_token(guess)) {
        buf_add(out, STR("      initial: "));
        setting_print_text(page->initial, out);
        buf_add(out, STR(" # from the URL\n"));
    }
    write_size(guess, out);
    write_order(guess, out);
}

/* ---- the window ---- */

/* The words of a name that are not about the two ends: index_date of from-index-date. */
static void write_key(const struct guess *guess, struct buf *out)
{
    static const char *const ends[] = { "from", "since", "after", "start", "min", "gte",
                                        "gt",   "until", "to",    "begin", "end", "max" };
    struct guess_words words = { 0 };
    const size_t before = out->len;

    guess_words_add(&words, guess->window.near);
    if (words.count > 4)
        words = (struct guess_words){ 0 };
    for (size_t i = 0; i < words.count; i++) {
        bool is_end = words.items[i][0] >= '0' && words.items[i][0] <= '9';

        for (size_t j = 0; j < ARRAY_LEN(ends); j++)
            is_end |= str_eq(str_of(words.items[i]), str_of(ends[j]));
        if (!is_end)
            buf_printf(out, "%s%s", out->len > before ? "_" : "", words.items[i]);
    }
    if (out->len == before)
        buf_add(out, guess->is_oai ? STR("datestamp") : STR("updated"));
}

static void write_granularity(const struct guess *guess, struct buf *out)
{
    static const char *const names[] = {
        [GRANULARITY_MICROSECOND] = "microsecond",
        [GRANULARITY_MILLISECOND] = "millisecond",
        [GRANULARITY_SECOND] = "second",
        [GRANULARITY_MINUTE] = "minute",
        [GRANULARITY_HOUR] = "hour",
        [GRANULARITY_DAY] = "day",
    };

    buf_printf(out, "      granularity: %s # as the URL writes its dates\n",
               names[guess->window.granularity]);
    if (guess->window.granularity == GRANULARITY_DAY)
        buf_add(out, STR("      align: day\n      min: 1d\n"));
}

static void write_window(const struct guess *guess, struct buf *out)
{
    buf_add(out, STR("    window:\n      key: "));
    write_key(guess, out);
    buf_add(out, STR(" # names the cursor\n"));
    if (has_window(guess)) {
        buf_printf(out,
                   "      # likely: the dates of the URL are the window%s. TODO is it the date of "
                   "change%s\n",
                   guess->window.has_end ? "" : "'s beginning",
                   guess->window.has_end && !guess->window.shows_end
                       ? ", and is its end included? If not, write window.to for window.last"
                       : "?");
        write_granularity(guess, out);
        return;
    }
    if (needs_window_param(guess))
        return;
    buf_add(out, STR("      # TODO the URL has no filter by date. Every harvest reads the whole "
                     "list, and drops what is outside its window.\n"
                     "      updated_since: false\n"
                     "      client_filter: true\n"));
}

/* ---- the response ---- */

static void write_found(struct buf *out, const char *name, const struct guess_found *found,
                        struct str otherwise)
{
    if (found->path.len == 0 && otherwise.len == 0) {
        buf_printf(out, "      # TODO %s: not found in the answer\n", name);
        return;
    }
    buf_printf(out, "      %s: ", name);
    setting_print_text(found->path.len > 0 ? found->path : otherwise, out);
    if (found->path.len > 0)
        write_why(out, found->certainty, found->why);
    else
        buf_add(out, STR(" # TODO not found in the answer\n"));
}

static bool is_used(const struct guess *guess, struct str prefix)
{
    const struct str paths[] = { guess->items.path, guess->id.path,        guess->updated_at.path,
                                 guess->total.path, guess->page.next.path, guess->deleted };
    char needle[16];
    int len = 0;

    for (size_t i = 0; i < prefix.len && len < 14; i++)
        needle[len++] = prefix.data[i];
    needle[len++] = ':';
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        if (str_find(paths[i], (struct str){ needle, (size_t)len }) < paths[i].len)
            return true;
    }
    return guess->is_oai && str_eq(prefix, guess->namespaces[0].prefix);
}

static void write_namespaces(const struct guess *guess, struct buf *out)
{
    const char *separator = "      namespaces: { ";

    buf_add(out, STR("      format: xml\n"));
    for (size_t i = 0; i < guess->namespace_count; i++) {
        if (!is_used(guess, guess->namespaces[i].prefix))
            continue;
        buf_printf(out, "%s%.*s: ", separator, STR_ARG(guess->namespaces[i].prefix));
        setting_print_text(guess->namespaces[i].uri, out);
        separator = ", ";
    }
    if (separator[0] == ',')
        buf_add(out, STR(" }\n"));
}

static void write_absent(const struct guess *guess, struct buf *out)
{
    const bool is_next_type =
        guess->page.type == PAGINATION_TOKEN || guess->page.type == PAGINATION_URL;
    const bool has_next = is_next_type && (guess->total.path.len > 0 || guess->is_oai);
    const bool has_total = guess->is_oai && guess->total.path.len > 0;
    const bool has_date = guess->updated_at.path.len > 0 && !guess->is_date_everywhere;

    if (!has_next && !has_date)
        return;
    buf_printf(out, "      may_be_absent: [%s%s%s%s%s] # TODO look at a last page\n",
               has_next ? "next" : "", has_next && has_total ? ", " : "",
               has_total && has_next ? "total" : "", has_next && has_date ? ", " : "",
               has_date ? "updated_at" : "");
}

/* The rules of the protocol, which every such server shares. */
static void write_oai(const struct guess *guess, struct buf *out)
{
    const struct str prefix = guess->namespace_count > 0 ? guess->namespaces[0].prefix : STR("");
    const char *colon = prefix.len > 0 ? ":" : "";

    buf_printf(out,
               "      error_when: # OAI-PMH: failures have status 200\n"
               "        - { path: \"/%.*s%sOAI-PMH/%.*s%serror[@code='noRecordsMatch']\", meaning: "
               "empty }\n"
               "        - { path: \"/%.*s%sOAI-PMH/%.*s%serror[@code='badResumptionToken']\", "
               "meaning: expired, code: token }\n"
               "        - { path: \"/%.*s%sOAI-PMH/%.*s%serror\", level: L2, code: oai-error }\n",
               STR_ARG(prefix), colon, STR_ARG(prefix), colon, STR_ARG(prefix), colon,
               STR_ARG(prefix), colon, STR_ARG(prefix), colon, STR_ARG(prefix), colon);
}

static void write_deleted(const struct guess *guess, struct buf *out)
{
    const struct str prefix = guess->namespace_count > 0 ? guess->namespaces[0].prefix : STR("");

    if (guess->is_oai)
        buf_printf(out, "      deleted: \"%s%.*s%sheader[@status='deleted']\"\n",
                   str_ends(guess->items.path, STR("header")) ? "self::" : "", STR_ARG(prefix),
                   prefix.len > 0 ? ":" : "");
    else if (guess->deleted.len > 0)
        write_found(out, "deleted",
                    &(struct guess_found){ GUESS_LIKELY, guess->deleted, STR("its name") },
                    STR(""));
}

static void write_id(const struct guess *guess, struct buf *out)
{
    if (guess->id_second.len == 0) {
        write_found(out, "id", &guess->id, guess->is_xml ? STR("TODO") : STR("$.TODO"));
        return;
    }
    buf_add(out, STR("      id: ["));
    setting_print_text(guess->id.path, out);
    buf_add(out, STR(", "));
    setting_print_text(guess->id_second, out);
    buf_add_char(out, ']');
    write_why(out, guess->id.certainty, guess->id.why);
}

static void write_response(const struct guess *guess, struct buf *out)
{
    buf_add(out, STR("    response:\n"));
    if (guess->is_xml)
        write_namespaces(guess, out);
    write_found(out, "items", &guess->items, guess->is_xml ? STR("/TODO/TODO") : STR("$.TODO"));
    write_id(guess, out);
    if (guess->id_hint.len > 0) {
        buf_add(out, STR("      # TODO if one id may come with several of these, the id has two "
                         "parts: add "));
        setting_print_text(guess->id_hint, out);
        buf_add_char(out, '\n');
    }
    write_found(out, "updated_at", &guess->updated_at, STR(""));
    if (guess->updated_at.path.len > 0)
        buf_printf(out, "      date_formats: [%.*s]\n", STR_ARG(guess->date_format));
    write_found(out, "total", &guess->total, STR(""));
    if (guess->has_more.path.len > 0 && guess->page.type != PAGINATION_SINGLE)
        write_found(out, "has_more", &guess->has_more, STR(""));
    write_deleted(guess, out);
    write_absent(guess, out);
    if (guess->is_oai)
        write_oai(guess, out);
}

void guess_write(const struct guess *guess, struct buf *out)
{
    write_head(guess, out);
    write_params(guess, out);
    write_http(guess, out);
    write_auth(guess, out);
    write_rate(guess, out);
    buf_add(out, STR("endpoints:\n  "));
    setting_print_text(guess->entity, out);
    buf_add(out, STR(":\n    role: search\n    path: "));
    setting_print_text(guess->path, out);
    buf_add_char(out, '\n');
    write_query(guess, out);
    write_page(guess, out);
    write_window(guess, out);
    write_response(guess, out);
    buf_add(out, STR("    # fields: what the published records have, such as { title: "));
    buf_add(out, guess->is_xml ? STR("title }\n\n") : STR("$.title }\n\n"));
    buf_add(out, STR("operations:\n  harvest: { endpoint: "));
    setting_print_text(guess->entity, out);
    buf_add(out, STR(", every: 1d }\n"));
}
