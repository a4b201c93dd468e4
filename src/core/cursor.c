/* cursor: order of values, folding events into a value, and the identity of events. */
#include "core/cursor.h"

#include <assert.h>
#include <string.h>

#include "core/canon.h"

/* ---- keys ---- */

struct str cursor_key_make(struct arena *arena, struct str endpoint, struct str key)
{
    return arena_printf(arena, "%.*s.%.*s", STR_ARG(endpoint), STR_ARG(key));
}

struct str cursor_key_make_shared(struct arena *arena, struct str key)
{
    return arena_printf(arena, "*.%.*s", STR_ARG(key));
}

bool cursor_key_is_shared(struct str cursor_key)
{
    return str_starts(cursor_key, STR("*."));
}

struct str cursor_key_endpoint(struct str cursor_key)
{
    const size_t dot = cursor_key_is_shared(cursor_key) ? 0 : str_find_char(cursor_key, '.');

    return str_slice(cursor_key, 0, dot < cursor_key.len ? dot : 0);
}

/* ---- order ---- */

struct str cursor_id_normal(struct str id)
{
    size_t zeros = 0;

    while (zeros + 1 < id.len && id.data[zeros] == '0')
        zeros++;
    return str_slice(id, zeros, id.len);
}

bool cursor_id_is_valid(struct str id)
{
    if (id.len == 0 || id.len > CURSOR_VALUE_MAX)
        return false;
    for (size_t i = 0; i < id.len; i++) {
        if (id.data[i] < '0' || id.data[i] > '9')
            return false;
    }
    return cursor_id_normal(id).len <= CURSOR_ID_DIGITS_MAX;
}

int cursor_id_compare(struct str a, struct str b)
{
    assert(cursor_id_is_valid(a));
    assert(cursor_id_is_valid(b));
    a = cursor_id_normal(a);
    b = cursor_id_normal(b);
    if (a.len != b.len)
        return a.len < b.len ? -1 : 1;
    return str_cmp(a, b);
}

/* The digits of id + n or id - n, right-aligned in `digits`, from the first that is used. */
enum { SUM_DIGITS = CURSOR_ID_DIGITS_MAX + 1 };

static size_t add_digits(struct str id, int64_t n, bool is_minus, char digits[SUM_DIGITS])
{
    int carry = 0;

    for (size_t i = 0; i < SUM_DIGITS; i++) {
        const int own = i < id.len ? id.data[id.len - 1 - i] - '0' : 0;
        int sum = is_minus ? own - (int)(n % 10) - carry : own + (int)(n % 10) + carry;

        carry = is_minus ? sum < 0 : sum > 9;
        if (carry != 0)
            sum += is_minus ? 10 : -10;
        digits[SUM_DIGITS - 1 - i] = (char)('0' + sum);
        n /= 10;
    }
    if (is_minus && carry != 0)
        memset(digits, '0', SUM_DIGITS);
    return SUM_DIGITS;
}

static struct str id_sum(struct arena *arena, struct str id, int64_t n, bool is_minus)
{
    char digits[SUM_DIGITS];
    size_t len;

    assert(cursor_id_is_valid(id));
    assert(n >= 0);
    len = add_digits(cursor_id_normal(id), n, is_minus, digits);
    return arena_copy(arena, cursor_id_normal((struct str){ digits, len }));
}

struct str cursor_id_plus(struct arena *arena, struct str id, int64_t n)
{
    return id_sum(arena, id, n, false);
}

struct str cursor_id_minus(struct arena *arena, struct str id, int64_t n)
{
    return id_sum(arena, id, n, true);
}

bool cursor_is_forward(const struct cursor_value *current, const struct cursor_value *next)
{
    if (current == NULL)
        return true;
    assert(current->type == next->type);
    switch (next->type) {
    case CURSOR_TIME:
        return next->instant_us > current->instant_us;
    case CURSOR_ID:
        return cursor_id_compare(next->text, current->text) > 0;
    case CURSOR_TOKEN:
        return !str_eq(next->text, current->text);
    }
    assert(!"a type of the enum");
    return false;
}

bool cursor_value_eq(const struct cursor_value *a, const struct cursor_value *b)
{
    if (a->type != b->type)
        return false;
    if (a->type == CURSOR_TIME)
        return a->instant_us == b->instant_us;
    if (a->type == CURSOR_ID)
        return cursor_id_compare(a->text, b->text) == 0;
    return str_eq(a->text, b->text);
}

/* ---- replay ---- */

void cursor_fold_init(struct cursor_fold *fold, enum cursor_type type)
{
    *fold = (struct cursor_fold){ .type = type };
}

bool cursor_fold_value(const struct cursor_fold *fold, struct cursor_value *value)
{
    *value = (struct cursor_value){ .type = fold->type,
                                    .instant_us = fold->instant_us,
                                    .text = { fold->text, fold->text_len } };
    return fold->has_value;
}

/* An event names the value it started from. That may be older than the current one (it lost a
 * race), but an earlier event must have reached it. TOKENs have no order, so they cannot be
 * checked. */
static bool is_gap(const struct cursor_fold *fold, const struct cursor_value *state,
                   const struct cursor_value *prev)
{
    if (prev == NULL)
        return false;
    if (!fold->has_value)
        return true;
    return fold->type != CURSOR_TOKEN && cursor_is_forward(state, prev);
}

static void set_value(struct cursor_fold *fold, const struct cursor_value *value)
{
    fold->has_value = true;
    fold->instant_us = value->instant_us;
    fold->text_len = value->text.len;
    if (value->text.len > 0)
        memcpy(fold->text, value->text.data, value->text.len);
}

static struct cursor_value count_event(struct cursor_fold *fold, const struct cursor_value *prev,
                                       const struct cursor_value *next)
{
    struct cursor_value state;

    assert(next->type == fold->type);
    assert(next->text.len <= CURSOR_VALUE_MAX);
    (void)cursor_fold_value(fold, &state);
    fold->event_count++;
    fold->gap_count += is_gap(fold, &state, prev);
    return state;
}

void cursor_fold_add(struct cursor_fold *fold, const struct cursor_value *prev,
                     const struct cursor_value *next)
{
    const struct cursor_value state = count_event(fold, prev, next);

    if (fold->has_value && !cursor_is_forward(&state, next))
        fold->no_forward_count++;
    else
        set_value(fold, next);
}

void cursor_fold_reset(struct cursor_fold *fold, const struct cursor_value *prev,
                       const struct cursor_value *next)
{
    (void)count_event(fold, prev, next);
    fold->reset_count++;
    set_value(fold, next);
}

bool cursor_fold_agrees(const struct cursor_fold *fold, const struct cursor_value *current)
{
    struct cursor_value state;

    if (!cursor_fold_value(fold, &state) || current == NULL)
        return !fold->has_value && current == NULL;
    return cursor_value_eq(&state, current);
}

/* ---- identity ---- */

static void write_value(struct canon *canon, const char *key, const struct cursor_value *value)
{
    if (value == NULL)
        canon_null(canon, key);
    else if (value->type == CURSOR_TIME)
        canon_instant(canon, key, value->instant_us);
    else if (value->type == CURSOR_ID)
        canon_str(canon, key, cursor_id_normal(value->text));
    else
        canon_str(canon, key, value->text);
}

void cursor_event_identity_write(const struct cursor_event_identity *identity, struct buf *out)
{
    struct canon canon = canon_begin(out);

    canon_id(&canon, "batchId", identity->batch_id);
    canon_str(&canon, "cursorKey", identity->cursor_key);
    canon_str(&canon, "namespaceKey", identity->namespace_key);
    canon_code(&canon, "namespaceScope", &NAMESPACE_SCOPE_CODES, (int)identity->scope);
    write_value(&canon, "new", identity->next);
    canon_code(&canon, "operation", &OPERATION_CODES, (int)identity->operation);
    write_value(&canon, "prev", identity->prev);
    canon_id(&canon, "runId", identity->run_id);
    canon_str(&canon, "source", identity->source);
    canon_i64(&canon, "version", identity->version);
    if (identity->window != NULL) {
        canon_object(&canon, "window");
        canon_instant(&canon, "from", identity->window->from_us);
        canon_instant(&canon, "to", identity->window->to_us);
        canon_close(&canon);
    } else {
        canon_null(&canon, "window");
    }
    canon_end(&canon);
}
