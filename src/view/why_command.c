/* Commands that heal, as they are typed. */
#include "base/instant.h"
#include "view/why_internal.h"

struct str why_word(struct arena *arena, struct str text)
{
    static const struct str plain =
        STR_INIT("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/:@%+=,-");
    struct buf out;
    bool is_plain = text.len > 0;

    for (size_t i = 0; i < text.len && is_plain; i++)
        is_plain = str_find_char(plain, text.data[i]) < plain.len;
    if (is_plain)
        return text;
    buf_init(&out, arena, 4 * text.len + 8);
    buf_add(&out, STR("'"));
    for (size_t i = 0; i < text.len; i++)
        buf_add(&out, text.data[i] == '\'' ? STR("'\\''") : str_slice(text, i, i + 1));
    buf_add(&out, STR("'"));
    return buf_str(&out);
}

static const struct why_operation *operation_of(const struct view_why *why, enum operation code)
{
    for (size_t i = 0; i < why->source.operation_count; i++) {
        if (why->source.operations[i].operation == code)
            return &why->source.operations[i];
    }
    return NULL;
}

static void add_word_of(struct buf *out, enum operation code)
{
    const struct str word = code_of(&OPERATION_CODES, (int)code);

    for (size_t i = 0; i < word.len; i++)
        buf_add_char(out, (char)(word.data[i] | 0x20)); /* capital letters only */
}

static void add_command(const struct view_why *why, struct arena *arena, enum operation code,
                        struct buf *out)
{
    const struct why_operation *operation = operation_of(why, code);
    const struct why_operation *harvest = operation_of(why, OPERATION_HARVEST);

    /* A source need not mention backfills and replays: it has those of its only harvest. */
    if (operation == NULL && harvest != NULL && !harvest->is_only) {
        operation = harvest;
        code = OPERATION_HARVEST;
    }
    buf_add(out, STR("patra "));
    add_word_of(out, code);
    buf_printf(out, " %.*s", STR_ARG(why_word(arena, why->key.source)));
    if (operation != NULL && !operation->is_only)
        buf_printf(out, " --operation %.*s", STR_ARG(operation->name));
}

static struct str finished(struct buf *out)
{
    struct error ignored;

    return buf_ok(out, &ignored) ? buf_str(out) : (struct str){ 0 };
}

struct str why_command(const struct view_why *why, struct arena *arena, enum operation operation)
{
    struct buf out;

    buf_init(&out, arena, 4096);
    add_command(why, arena, operation, &out);
    return finished(&out);
}

struct str why_command_window(const struct view_why *why, struct arena *arena,
                              enum operation operation, struct window window)
{
    char from[INSTANT_TEXT_MAX], to[INSTANT_TEXT_MAX];
    struct buf out;

    (void)instant_format(window.from_us, from);
    (void)instant_format(window.to_us, to);
    buf_init(&out, arena, 4096);
    add_command(why, arena, operation, &out);
    buf_printf(&out, " --from %s --to %s", from, to);
    return finished(&out);
}

struct str why_command_id(const struct view_why *why, struct arena *arena)
{
    struct buf out;

    buf_init(&out, arena, 8192);
    for (size_t i = 0; i < why->source.operation_count; i++) {
        const struct why_operation *operation = &why->source.operations[i];

        if (!operation->is_by_id)
            continue;
        buf_printf(&out, "echo %.*s | ", STR_ARG(why_word(arena, why->key.provider_id)));
        add_command(why, arena, operation->operation, &out);
        buf_add(&out, STR(" --ids -"));
        return finished(&out);
    }
    return STR("");
}

struct str why_command_again(const struct view_why *why, struct arena *arena)
{
    const struct str by_id = why_command_id(why, arena);
    struct window day;

    if (by_id.len > 0 || !why->has_date)
        return by_id;
    day.from_us = instant_floor(why->date_us, US_PER_DAY);
    day.to_us = day.from_us + US_PER_DAY;
    return why_command_window(why, arena, OPERATION_REPLAY, day);
}
