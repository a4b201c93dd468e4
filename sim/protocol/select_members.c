/* Copies the selected members of a JSON object. */
#include "sim/protocol/select_members.h"

/* One past the end of the member that begins at `at` in our own compact JSON. */
static size_t member_end(struct str body, size_t at)
{
    size_t depth = 0;
    bool quoted = false;

    for (; at < body.len; at++) {
        const char c = body.data[at];

        if (quoted) {
            if (c == '\\')
                at++;
            else if (c == '"')
                quoted = false;
        } else if (c == '"') {
            quoted = true;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if (c == '}' || c == ']') {
            if (depth-- == 0)
                break;
        } else if (c == ',' && depth == 0) {
            break;
        }
    }
    return at;
}

static bool is_selected(struct str select, struct str name)
{
    while (select.len > 0) {
        if (str_eq(str_cut(&select, ','), name))
            return true;
    }
    return false;
}

void select_members(struct buf *out, struct str body, struct str select)
{
    const char *between = "{";

    for (size_t at = 1; at < body.len; at++) {
        const size_t end = member_end(body, at);
        const struct str member = str_slice(body, at, end);
        const struct str name =
            str_slice(member, 1, 1 + str_find_char(str_slice(member, 1, member.len), '"'));

        if (is_selected(select, name)) {
            buf_add(out, str_of(between));
            buf_add(out, member);
            between = ",";
        }
        at = end;
    }
    buf_add(out, between[0] == '{' ? STR("{}") : STR("}"));
}
