/* Status line and headers, line by line, within the limits. */
#include "data/http_head.h"

#include "base/list.h"
#include "base/quote.h"

void http_head_init(struct http_head *head, struct arena *arena, const struct http_limits *limits)
{
    *head = (struct http_head){
        .arena = arena,
        .bytes_max = limits->header_bytes_max,
        .headers_max = limits->headers_max,
    };
}

/* "HTTP/1.1 200 OK", "HTTP/2 200". */
static bool add_status(struct http_head *head, struct str line, struct error *err)
{
    struct str rest = line;
    const struct str version = str_cut(&rest, ' ');
    const struct str status = str_cut(&rest, ' ');
    int64_t number;

    head->headers = (struct http_headers){ 0 };
    head->lines = 0;
    head->is_complete = false;
    if (str_eq(version, STR("HTTP/1.0")))
        head->version = 10;
    else if (str_eq(version, STR("HTTP/1.1")))
        head->version = 11;
    else if (str_starts(version, STR("HTTP/2")))
        head->version = 20;
    else if (str_starts(version, STR("HTTP/3")))
        head->version = 30;
    else
        head->version = 0;
    if (head->version == 0 || status.len != 3 || !str_to_i64(status, &number) || number < 100)
        return error_set(err, ERROR_TRANSIENT, "http.protocol", "not a status line: %s",
                         QUOTE(line));
    head->status = (int)number;
    return true;
}

/* Obsolete, but still sent: a line that starts with white space continues the one before. */
static bool add_fold(struct http_head *head, struct str line, struct error *err)
{
    struct http_header *last;

    if (head->headers.count == 0)
        return true;
    last = &head->headers.items[head->headers.count - 1];
    last->value =
        arena_printf(head->arena, "%.*s %.*s", STR_ARG(last->value), STR_ARG(str_trim(line)));
    return last->value.data != NULL || arena_error(head->arena, err);
}

/* Some proxies join equal ones: "5, 5". */
static bool is_length(struct str value, struct str first)
{
    const struct str length = str_trim(str_cut(&first, ','));
    int64_t bytes;

    while (value.len > 0) {
        if (!str_eq(str_trim(str_cut(&value, ',')), length))
            return false;
    }
    return str_to_i64(length, &bytes) && bytes >= 0;
}

/* Where a body ends must be sure, or a part of it is taken for all. A status other than 2xx has
 * been told already, whatever its body is. */
static bool check_length(const struct http_head *head, const struct http_header *header,
                         struct error *err)
{
    const struct str name = STR("Content-Length");

    if (head->status / 100 != 2 || !str_eq_nocase(header->name, name) ||
        is_length(header->value, http_header_value(head->headers, name)))
        return true;
    return error_set(err, ERROR_TRANSIENT, "http.protocol",
                     "Content-Length is not a number, or not the same as before: %s",
                     QUOTE(header->value));
}

static bool add_header(struct http_head *head, struct str line, struct error *err)
{
    const size_t colon = str_find_char(line, ':');
    const struct str name = str_slice(line, 0, colon);
    struct http_header *header;

    if (colon == line.len || !http_is_token(name))
        return true;
    header = LIST_ADD(head->arena, &head->headers);
    if (header == NULL)
        return arena_error(head->arena, err);
    header->name = arena_copy(head->arena, name);
    header->value = arena_copy(head->arena, str_trim(str_slice(line, colon + 1, line.len)));
    if (header->name.data == NULL || header->value.data == NULL)
        return arena_error(head->arena, err);
    return check_length(head, header, err);
}

static struct str without_line_end(struct str line)
{
    if (str_ends(line, STR("\n")))
        line.len--;
    if (str_ends(line, STR("\r")))
        line.len--;
    return line;
}

bool http_head_add(struct http_head *head, struct str line, struct error *err)
{
    head->bytes += (int64_t)line.len;
    if (head->bytes > head->bytes_max)
        return error_set(err, ERROR_REQUEST, "http.header_limit",
                         "the headers are longer than %lld bytes", (long long)head->bytes_max);
    line = without_line_end(line);
    if (str_starts(line, STR("HTTP/")))
        return add_status(head, line, err);
    if (line.len == 0)
        head->is_complete = true;
    if (head->is_complete)
        return true;
    if (++head->lines > head->headers_max)
        return error_set(err, ERROR_REQUEST, "http.header_limit", "more than %zu headers",
                         head->headers_max);
    if (line.data[0] == ' ' || line.data[0] == '\t')
        return add_fold(head, line, err);
    return add_header(head, line, err);
}
