/* The list of faults: adding, sorting, printing. */
#include "spec/fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void fault_list_init(struct fault_list *list, struct arena *arena)
{
    *list = (struct fault_list){ .arena = arena };
}

PRINTF_LIKE(2, 0)
static struct str text_of(struct fault_list *list, const char *format, va_list args)
{
    char text[ERROR_TEXT_MAX];
    const int length = vsnprintf(text, sizeof(text), format, args);
    const size_t len = (size_t)length < sizeof(text) ? (size_t)length : sizeof(text) - 1;
    struct str copy;

    if (length < 0)
        return (struct str){ 0 };
    copy = arena_copy(list->arena, (struct str){ text, len });
    list->failed |= copy.data == NULL;
    return copy.data != NULL ? copy : (struct str){ 0 };
}

static bool is_known(const struct fault_list *list, const struct fault *fault)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct fault *other = &list->items[i];

        if (other->severity == fault->severity && strcmp(other->code, fault->code) == 0 &&
            other->at.line == fault->at.line && other->at.column == fault->at.column &&
            str_eq(other->message, fault->message))
            return true;
    }
    return false;
}

static void add(struct fault_list *list, const struct fault *fault)
{
    list->takes_hint = false;
    if (is_known(list, fault))
        return;
    list->errors += fault->severity == FAULT_ERROR;
    list->warnings += fault->severity == FAULT_WARNING;
    if (list->count == FAULTS_MAX)
        return;
    if (list->items == NULL)
        list->items = ARENA_ARRAY(list->arena, struct fault, FAULTS_MAX);
    if (list->items == NULL) {
        list->failed = true;
        return;
    }
    list->items[list->count++] = *fault;
    list->takes_hint = true;
}

void fault_error(struct fault_list *list, const char *code, struct mark at, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add(list, &(struct fault){ FAULT_ERROR, code, at, .message = text_of(list, format, args) });
    va_end(args);
}

void fault_warn(struct fault_list *list, const char *code, struct mark at, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add(list, &(struct fault){ FAULT_WARNING, code, at, .message = text_of(list, format, args) });
    va_end(args);
}

void fault_hint(struct fault_list *list, const char *format, ...)
{
    va_list args;

    if (!list->takes_hint)
        return;
    va_start(args, format);
    list->items[list->count - 1].hint = text_of(list, format, args);
    va_end(args);
}

void fault_lacks(struct fault_list *list, enum fault_lack lacks)
{
    if (list->takes_hint)
        list->items[list->count - 1].lacks = lacks;
}

static bool is_before(const struct fault *a, const struct fault *b)
{
    if (a->at.line != b->at.line)
        return a->at.line < b->at.line;
    return a->at.column < b->at.column;
}

/* By insertion: stable, and the list is short and mostly in order already. */
void fault_list_sort(struct fault_list *list)
{
    for (size_t i = 1; i < list->count; i++) {
        const struct fault fault = list->items[i];
        size_t place = i;

        for (; place > 0 && is_before(&fault, &list->items[place - 1]); place--)
            list->items[place] = list->items[place - 1];
        list->items[place] = fault;
    }
}

void fault_print(const struct fault *fault, struct str file, struct buf *out)
{
    if (file.len > 0 && fault->at.line > 0)
        buf_printf(out, "%.*s:%u:%u: ", STR_ARG(file), fault->at.line, fault->at.column);
    else if (file.len > 0)
        buf_printf(out, "%.*s: ", STR_ARG(file));
    buf_printf(out, "%s: %.*s [%s]\n", fault->severity == FAULT_ERROR ? "error" : "warning",
               STR_ARG(fault->message), fault->code);
    if (fault->hint.len > 0)
        buf_printf(out, "  hint: %.*s\n", STR_ARG(fault->hint));
}

bool fault_list_ok(const struct fault_list *list, struct error *err)
{
    if (list->failed)
        return arena_error(list->arena, err);
    for (size_t i = 0; i < list->count; i++) {
        const struct fault *fault = &list->items[i];

        if (fault->severity == FAULT_ERROR)
            return error_set(err, ERROR_REQUEST, "spec.invalid", "%.*s [%s] (%zu errors in all)",
                             STR_ARG(fault->message), fault->code, list->errors);
    }
    return true;
}
