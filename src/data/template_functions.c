/* The functions of templates. None does I/O; each is bounded by its arguments and bytes_max. */
#include "data/template_eval.h"

#include <inttypes.h>

#include "base/buf.h"
#include "base/duration.h"
#include "base/instant.h"
#include "base/quote.h"
#include "data/date_pattern.h"
#include "data/template_json.h"

static bool give_text(struct template_value *value, const struct buf *out, struct error *err)
{
    if (!buf_ok(out, err))
        return false;
    *value = (struct template_value){ .type = TEMPLATE_TEXT, .text = buf_str(out) };
    return true;
}

static bool give_int(struct template_value *value, int64_t number)
{
    *value = (struct template_value){ .type = TEMPLATE_INT, .number = number };
    return true;
}

static bool write_instant(const struct template_call *call, struct str pattern,
                          struct template_value *value, struct error *err)
{
    struct buf out;

    buf_init(&out, call->arena, call->request->bytes_max);
    date_pattern_write(&out, pattern, call->arguments[0].number);
    return give_text(value, &out, err);
}

static bool eval_now(const struct template_call *call, struct template_value *value,
                     struct error *err)
{
    (void)err;
    *value = (struct template_value){ .type = TEMPLATE_INSTANT, .number = call->request->now_us };
    return true;
}

static bool eval_format(const struct template_call *call, struct template_value *value,
                        struct error *err)
{
    return write_instant(call, call->arguments[1].text, value, err);
}

static bool eval_date(const struct template_call *call, struct template_value *value,
                      struct error *err)
{
    return write_instant(call, STR("yyyy-MM-dd"), value, err);
}

static bool eval_datetime(const struct template_call *call, struct template_value *value,
                          struct error *err)
{
    return write_instant(call, STR("yyyy-MM-dd'T'HH:mm:ss'Z'"), value, err);
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static bool eval_epoch(const struct template_call *call, struct template_value *value,
                       struct error *err)
{
    (void)err;
    return give_int(value, floor_div(call->arguments[0].number, US_PER_SECOND));
}

static bool eval_epoch_ms(const struct template_call *call, struct template_value *value,
                          struct error *err)
{
    (void)err;
    return give_int(value, floor_div(call->arguments[0].number, US_PER_MS));
}

static bool move_instant(const struct template_call *call,
                         bool (*move)(int64_t, struct duration, int64_t *),
                         struct template_value *value, struct error *err)
{
    struct duration duration;
    int64_t moved_us;

    if (!duration_parse(call->arguments[1].text, &duration, err))
        return false;
    if (!move(call->arguments[0].number, duration, &moved_us)) {
        return error_set(err, ERROR_REQUEST, "template.range",
                         "moving the instant by %s leads outside the years 0000 to 9999",
                         QUOTE(call->arguments[1].text));
    }
    *value = (struct template_value){ .type = TEMPLATE_INSTANT, .number = moved_us };
    return true;
}

static bool eval_plus(const struct template_call *call, struct template_value *value,
                      struct error *err)
{
    return move_instant(call, duration_add, value, err);
}

static bool eval_minus(const struct template_call *call, struct template_value *value,
                       struct error *err)
{
    return move_instant(call, duration_subtract, value, err);
}

static bool eval_coalesce(const struct template_call *call, struct template_value *value,
                          struct error *err)
{
    (void)err;
    *value = (struct template_value){ 0 };
    for (size_t i = 0; i < call->count && value->type == TEMPLATE_NULL; i++)
        *value = call->arguments[i];
    return true;
}

static bool is_nothing(const struct template_value *value)
{
    return value->type == TEMPLATE_NULL || (value->type == TEMPLATE_TEXT && value->text.len == 0) ||
           (value->type == TEMPLATE_LIST && value->count == 0);
}

static bool eval_default(const struct template_call *call, struct template_value *value,
                         struct error *err)
{
    (void)err;
    *value = call->arguments[is_nothing(&call->arguments[0]) ? 1 : 0];
    return true;
}

static bool eval_unless(const struct template_call *call, struct template_value *value,
                        struct error *err)
{
    (void)err;
    *value = is_nothing(&call->arguments[0]) ? call->arguments[1]
                                             : (struct template_value){ .type = TEMPLATE_NULL };
    return true;
}

static void add_value(struct buf *out, const struct template_value *value)
{
    char text[INSTANT_TEXT_MAX];

    if (value->type == TEMPLATE_INT)
        buf_add_i64(out, value->number);
    else if (value->type == TEMPLATE_INSTANT)
        buf_add(out, (struct str){ text, instant_format(value->number, text) });
    else
        buf_add(out, value->text);
}

static bool eval_concat(const struct template_call *call, struct template_value *value,
                        struct error *err)
{
    struct buf out;

    buf_init(&out, call->arena, call->request->bytes_max);
    for (size_t i = 0; i < call->count; i++)
        add_value(&out, &call->arguments[i]);
    return give_text(value, &out, err);
}

static bool eval_join(const struct template_call *call, struct template_value *value,
                      struct error *err)
{
    struct buf out;

    buf_init(&out, call->arena, call->request->bytes_max);
    for (size_t i = 0; i < call->arguments[0].count; i++) {
        if (i > 0)
            buf_add(&out, call->arguments[1].text);
        buf_add(&out, call->arguments[0].items[i]);
    }
    return give_text(value, &out, err);
}

static bool eval_size(const struct template_call *call, struct template_value *value,
                      struct error *err)
{
    const struct template_value *of = &call->arguments[0];

    (void)err;
    return give_int(value, (int64_t)(of->type == TEMPLATE_LIST ? of->count : of->text.len));
}

static bool map_case(const struct template_call *call, char first, char last,
                     struct template_value *value, struct error *err)
{
    struct buf out;

    buf_init(&out, call->arena, call->request->bytes_max);
    buf_add(&out, call->arguments[0].text);
    if (!give_text(value, &out, err))
        return false;
    for (size_t i = 0; i < out.len; i++) {
        if (out.data[i] >= first && out.data[i] <= last)
            out.data[i] ^= 'a' ^ 'A';
    }
    return true;
}

static bool eval_lower(const struct template_call *call, struct template_value *value,
                       struct error *err)
{
    return map_case(call, 'A', 'Z', value, err);
}

static bool eval_upper(const struct template_call *call, struct template_value *value,
                       struct error *err)
{
    return map_case(call, 'a', 'z', value, err);
}

static bool eval_after(const struct template_call *call, struct template_value *value,
                       struct error *err)
{
    const struct str text = call->arguments[0].text, mark = call->arguments[1].text;
    const size_t at = str_find(text, mark);

    (void)err;
    *value = (struct template_value){
        .type = TEMPLATE_TEXT,
        .text = at < text.len ? str_slice(text, at + mark.len, text.len) : text,
    };
    return true;
}

static bool eval_trim(const struct template_call *call, struct template_value *value,
                      struct error *err)
{
    (void)err;
    *value =
        (struct template_value){ .type = TEMPLATE_TEXT, .text = str_trim(call->arguments[0].text) };
    return true;
}

static bool check_duration(struct str literal, struct error *err)
{
    struct duration duration;

    return duration_parse(literal, &duration, err);
}

#define PLAIN (TEMPLATE_TEXT | TEMPLATE_INT | TEMPLATE_INSTANT)

/* Sorted by name, as the manual shows them. */
const struct template_function template_functions[] = {
    { .row = { "after", "text, mark",
               "What follows the first occurrence of the mark; without one, the text." },
      .least = 2,
      .most = 2,
      .takes = { TEMPLATE_TEXT, TEMPLATE_TEXT },
      .gives = TEMPLATE_TEXT,
      .eval = eval_after },
    { .row = { "coalesce", "value, value, ...", "The first value that is not null." },
      .least = 1,
      .most = SIZE_MAX,
      .takes = { TEMPLATE_ANY, TEMPLATE_ANY },
      .takes_null = true,
      .eval = eval_coalesce },
    { .row = { "concat", "value, value, ...", "The values joined; null if any is null." },
      .least = 1,
      .most = SIZE_MAX,
      .takes = { PLAIN, PLAIN },
      .gives = TEMPLATE_TEXT,
      .eval = eval_concat },
    { .row = { "date", "instant", "The day: 2001-09-15." },
      .least = 1,
      .most = 1,
      .takes = { TEMPLATE_INSTANT },
      .gives = TEMPLATE_TEXT,
      .eval = eval_date },
    { .row = { "datetime", "instant", "Day and time to the second: 2001-09-15T08:30:06Z." },
      .least = 1,
      .most = 1,
      .takes = { TEMPLATE_INSTANT },
      .gives = TEMPLATE_TEXT,
      .eval = eval_datetime },
    { .row = { "default", "value, fallback",
               "The value, or the fallback when it is null or empty." },
      .least = 2,
      .most = 2,
      .takes = { TEMPLATE_ANY, TEMPLATE_ANY },
      .takes_null = true,
      .eval = eval_default },
    { .row = { "epoch", "instant", "Whole seconds since 1970." },
      .least = 1,
      .most = 1,
      .takes = { TEMPLATE_INSTANT },
      .gives = TEMPLATE_INT,
      .eval = eval_epoch },
    { .row = { "epochMs", "instant", "Whole milliseconds since 1970." },
      .least = 1,
      .most = 1,
      .takes = { TEMPLATE_INSTANT },
      .gives = TEMPLATE_INT,
      .eval = eval_epoch_ms },
    { .row = { "formatDateTime", "instant, \"pattern\"",
               "The instant in UTC by a pattern such as yyyy/MM/dd or yyyy-MM-dd'T'HH:mm:ss'Z'." },
      .least = 2,
      .most = 2,
      .takes = { TEMPLATE_INSTANT, TEMPLATE_TEXT },
      .gives = TEMPLATE_TEXT,
      .check = date_pattern_check,
      .eval = eval_format },
    { .row = { "join", "list, separator", "The texts of the list, joined with the separator." },
      .least = 2,
      .most = 2,
      .takes = { TEMPLATE_LIST, TEMPLATE_TEXT },
      .gives = TEMPLATE_TEXT,
      .eval = eval_join },
    { .row = { "jsonPath", "text, \"path\"",
               "What a JSONPath finds in a JSON text: one value, or a list of texts." },
      .least = 2,
      .most = 2,
      .takes = { TEMPLATE_TEXT, TEMPLATE_TEXT },
      .gives = TEMPLATE_ANY,
      .check = template_json_path_check,
      .eval = template_json_path },
    { .row = { "lower", "text", "The text with its ASCII letters in lower case." },
      .least = 1,
      .most = 1,
      .takes = { TEMPLATE_TEXT },
      .gives = TEMPLATE_TEXT,
      .eval = eval_lower },
    { .row = { "minus", "instant, \"duration\"", "The instant minus a duration such as 1s or 1d." },
      .least = 2,
      .most = 2,
      .takes = { TEMPLATE_INSTANT, TEMPLATE_TEXT },
      .gives = TEMPLATE_INSTANT,
      .check = check_duration,
      .eval = eval_minus },
    { .row = { "now", "", "The time of rendering." },
      .least = 0,
      .most = 0,
      .gives = TEMPLATE_INSTANT,
      .eval = eval_now },
    { .row = { "plus", "instant, \"duration\"", "The instant plus a duration such as 1s or 1d." },
      .least = 2,
      .most = 2,
      .takes = { TEMPLATE_INSTANT, TEMPLATE_TEXT },
      .gives = TEMPLATE_INSTANT,
      .check = check_duration,
      .eval = eval_plus },
    { .row = { "size", "list or text", "The number of texts in a list, or of bytes in a text." },
      .least = 1,
      .most = 1,
      .takes = { TEMPLATE_LIST | TEMPLATE_TEXT },
      .gives = TEMPLATE_INT,
      .eval = eval_size },
    { .row = { "trim", "text", "The text without white space at both ends." },
      .least = 1,
      .most = 1,
      .takes = { TEMPLATE_TEXT },
      .gives = TEMPLATE_TEXT,
      .eval = eval_trim },
    { .row = { "unless", "value, other",
               "The other value when the first is null or empty, else null: for what is sent only "
               "with the first page." },
      .least = 2,
      .most = 2,
      .takes = { TEMPLATE_ANY, TEMPLATE_ANY },
      .takes_null = true,
      .eval = eval_unless },
    { .row = { "upper", "text", "The text with its ASCII letters in upper case." },
      .least = 1,
      .most = 1,
      .takes = { TEMPLATE_TEXT },
      .gives = TEMPLATE_TEXT,
      .eval = eval_upper },
};
const size_t template_functions_count = ARRAY_LEN(template_functions);

const struct template_function_row *template_function(size_t number)
{
    return number < template_functions_count ? &template_functions[number].row : NULL;
}
