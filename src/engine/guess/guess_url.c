/* What a URL says by itself: where the API is, what is secret, how many records, which window. */
#include <string.h>

#include "base/attr.h"
#include "base/quote.h"
#include "data/url.h"
#include "engine/guess/guess_dates.h"
#include "engine/guess/guess_parts.h"
#include "engine/guess/guess_words.h"
#include "spec/setting_value.h"

enum {
    PARAM_NAME_MAX = 100,
    URL_BYTES_MAX = 8192,
    SIZE_MAX_GUESSED = 100000,
    SIZE_POINTS_LEAST = 5
};

static const struct guess_word SIZE_NAMES[] = {
    { "rows", 10 },   { "limit", 10 },     { "size", 8 },   { "pagesize", 10 }, { "per", 8 },
    { "perpage", 9 }, { "retmax", 10 },    { "max", 6 },    { "count", 5 },     { "num", 4 },
    { "results", 3 }, { "records", 3 },    { "page", 1 },   { "hits", 2 },      { "maxrecords", 9 },
    { "date", -12 },  { "maxresults", 9 }, { "year", -12 }, { "id", -12 },      { NULL, 0 },
};

static const struct guess_word SECRET_NAMES[] = {
    { "key", 1 },       { "apikey", 1 },     { "secret", 1 },      { "password", 1 },
    { "passwd", 1 },    { "token", 1 },      { "auth", 1 },        { "sig", 1 },
    { "signature", 1 }, { "credential", 1 }, { "credentials", 1 }, { "session", 1 },
    { "jwt", 1 },       { NULL, 0 },
};

/* A token of pages is not a secret. */
static const struct guess_word PAGING_NAMES[] = {
    { "page", 1 },         { "resumption", 1 },      { "next", 1 },
    { "continuation", 1 }, { "scroll", 1 },          { "cursor", 1 },
    { "pagetoken", 1 },    { "resumptiontoken", 1 }, { NULL, 0 },
};

static bool is_contact(const struct guess_words *words, struct str value)
{
    const size_t at = str_find_char(value, '@');

    return guess_words_have(words, "mailto") || guess_words_have(words, "email") ||
           guess_words_have(words, "mail") ||
           (at > 0 && at < value.len &&
            str_find_char(str_slice(value, at, value.len), '.') < value.len - at &&
            str_find_char(value, ' ') == value.len);
}

/* Rather too many than too few: a person can write a harmless value into the file again. */
bool guess_is_secret(struct str name, struct str value)
{
    static const struct str parts[] = {
        STR_INIT("secret"), STR_INIT("passw"),   STR_INIT("apikey"),
        STR_INIT("token"),  STR_INIT("authori"), STR_INIT("cookie")
    };
    struct guess_words words = { 0 };
    char lower[PARAM_NAME_MAX];
    const size_t len = name.len < sizeof(lower) ? name.len : sizeof(lower);
    bool is_known;

    for (size_t i = 0; i < len; i++)
        lower[i] =
            name.data[i] >= 'A' && name.data[i] <= 'Z' ? (char)(name.data[i] | 0x20) : name.data[i];
    guess_words_add(&words, name);
    if (is_contact(&words, value))
        return true;
    guess_words_add(&words, (struct str){ lower, len });
    is_known = guess_words_points(&words, SECRET_NAMES, NULL) > 0;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        is_known |= str_find((struct str){ lower, len }, parts[i]) < len;
    return is_known && guess_words_points(&words, PAGING_NAMES, NULL) == 0;
}

static enum guess_role role_of(const struct guess_param *param)
{
    struct guess_words words = { 0 };

    guess_words_add(&words, param->name);
    if (is_contact(&words, param->value))
        return GUESS_CONTACT;
    return guess_is_secret(param->name, param->value) ? GUESS_SECRET : GUESS_PLAIN;
}

/* ---- parameters ---- */

static bool is_text(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if ((unsigned char)text.data[i] < ' ' || text.data[i] == 0x7F)
            return false;
    }
    return str_is_utf8(text);
}

static bool is_known(const struct guess *guess, struct str name)
{
    for (size_t i = 0; i < guess->param_count; i++) {
        if (str_eq_nocase(guess->params[i].name, name))
            return true;
    }
    return false;
}

static void add_param(struct guess *guess, struct arena *arena, struct str pair)
{
    struct str value = pair;
    const struct str name = url_decode(arena, str_cut(&value, '='), URL_QUERY);
    struct guess_param param = { .name = name, .value = url_decode(arena, value, URL_QUERY) };

    if (pair.len == 0 || param.value.len == 0)
        return;
    if (name.len == 0 || name.len > PARAM_NAME_MAX || !is_text(name) || !is_text(param.value) ||
        is_known(guess, name) || guess->param_count == GUESS_PARAMS_MAX) {
        guess_miss(guess, arena,
                   arena_printf(arena,
                                "the parameter %s of the URL was left out: it is there "
                                "twice, or cannot be written",
                                QUOTE(name)));
        return;
    }
    param.role = role_of(&param);
    param.text =
        param.role == GUESS_PLAIN
            ? guess_dates(&guess->window, arena, &(struct guess_dates_input){ name, param.value })
            : STR("");
    guess->params[guess->param_count++] = param;
}

static void find_size(struct guess *guess)
{
    struct guess_param *best = NULL;
    int most = SIZE_POINTS_LEAST - 1;

    for (size_t i = 0; i < guess->param_count; i++) {
        struct guess_param *param = &guess->params[i];
        struct guess_words words = { 0 };
        int64_t number;
        int points;

        guess_words_add(&words, param->name);
        points = guess_words_points(&words, SIZE_NAMES, NULL);
        if (param->role != GUESS_PLAIN || points <= most || !str_to_i64(param->value, &number) ||
            number < 1 || number > SIZE_MAX_GUESSED)
            continue;
        best = param;
        most = points;
        guess->page.size = number;
    }
    if (best != NULL)
        best->role = GUESS_SIZE;
}

static void find_order(struct guess *guess)
{
    for (size_t i = 0; i < guess->param_count; i++) {
        struct guess_words words = { 0 };

        guess_words_add(&words, guess->params[i].name);
        if (guess->params[i].role == GUESS_PLAIN &&
            (guess_words_have(&words, "sort") || guess_words_have(&words, "order")))
            guess->order_by = guess->params[i].value;
    }
}

/* ---- the place ---- */

/* The last part of the path that is a name: works of /v1/works, query of /api/query. */
static struct str entity_of(struct str path)
{
    struct str found = STR("items");

    while (path.len > 0) {
        struct str part = str_cut(&path, '/');
        const struct str name = str_cut(&part, '.');

        if (setting_is_name(name) && !str_eq(name, STR("json")) && !str_eq(name, STR("xml")))
            found = name;
    }
    return found;
}

/* Browsers and curl send some bytes that no URL may have, such as the brackets of a[b]. */
static struct str cleaned(struct arena *arena, struct str path)
{
    static const char allowed[] = "-._~!$&'()*+,;=:@/%";
    struct buf out;

    buf_init(&out, arena, (size_t)3 * URL_BYTES_MAX);
    for (size_t i = 0; i < path.len; i++) {
        const char c = path.data[i];
        const bool is_word =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        const bool is_lone = c == '%' && !url_is_escape(path, i);

        if (!is_lone && (is_word || (c != '\0' && strchr(allowed, c) != NULL)))
            buf_add_char(&out, c);
        else
            buf_printf(&out, "%%%02X", (unsigned)(unsigned char)c);
    }
    return out.failed ? STR("") : buf_str(&out);
}

static bool read_place(struct guess *guess, struct arena *arena, const struct url *url,
                       struct error *err)
{
    const struct str path = url->path.len > 0 ? cleaned(arena, url->path) : STR("/");
    const char *scheme = guess->is_plain_http ? "http" : "https";
    const bool is_usual = url->port == (guess->is_plain_http ? 80 : 443);

    guess->base_url =
        is_usual ? arena_printf(arena, "%s://%.*s", scheme, STR_ARG(url->host))
                 : arena_printf(arena, "%s://%.*s:%d", scheme, STR_ARG(url->host), url->port);
    guess->entity = entity_of(path);
    guess->path = guess_dates(&guess->window, arena, &(struct guess_dates_input){ .text = path });
    return (guess->base_url.data != NULL && guess->path.len > 0) || arena_error(arena, err);
}

bool guess_url(struct guess *guess, struct arena *arena, struct str text, struct error *err)
{
    struct error why;
    struct url url;
    struct str rest;

    if (text.len > URL_BYTES_MAX)
        return error_set(err, ERROR_REQUEST, "guess.url", "the URL is longer than %d bytes",
                         URL_BYTES_MAX);
    if (!url_parse(text, &url, &why))
        return error_set(err, ERROR_REQUEST, "guess.url",
                         "this is not a URL; write it as https://host/path?name=value");
    guess->is_plain_http = str_eq_nocase(url.scheme, STR("http"));
    if (!guess->is_plain_http && !str_eq_nocase(url.scheme, STR("https")))
        return error_set(err, ERROR_REQUEST, "guess.url",
                         "the URL begins with neither https:// nor http://");
    guess->has_userinfo = url.userinfo.len > 0;
    if (str_starts(url.path, STR("//")))
        return error_set(err, ERROR_REQUEST, "guess.url", "the path of the URL begins with //");
    if (!read_place(guess, arena, &url, err))
        return false;
    rest = url.query;
    while (rest.len > 0)
        add_param(guess, arena, str_cut(&rest, '&'));
    find_size(guess);
    find_order(guess);
    return !arena->failed || arena_error(arena, err);
}
