/* Rows by number or by source. */
#include "cli/row_choice.h"

#include "base/list.h"

bool row_choice_add(struct row_choice *choice, struct arena *arena, int64_t id, struct error *err)
{
    int64_t *slot = LIST_ADD(arena, choice);

    if (slot == NULL)
        return arena_error(arena, err);
    *slot = id;
    return true;
}

static bool is_number(const char *operand)
{
    int64_t id;

    return operand[0] >= '0' && operand[0] <= '9' && str_to_i64(str_of(operand), &id);
}

static bool are_numbers(const struct invocation *invocation)
{
    for (int i = 0; i < invocation->operand_count; i++) {
        if (!is_number(invocation->operands[i]))
            return false;
    }
    return true;
}

bool row_choice_read(const struct row_chooser *chooser, const struct invocation *invocation,
                     struct session *session, struct row_choice *choice, struct error *err)
{
    int64_t id;

    *choice = (struct row_choice){ 0 };
    if (!are_numbers(invocation)) {
        if (invocation->operand_count > 1)
            return command_misused(err, "give either numbers of %ss or one source", chooser->what);
        return chooser->add_source(invocation, session, choice, err);
    }
    for (int i = 0; i < invocation->operand_count; i++) {
        if (!invocation_row(invocation, i, chooser->what, &id, err) ||
            !row_choice_add(choice, &session->arena, id, err))
            return false;
    }
    return true;
}
