/* Takes the last step off an XPath, branch by branch, and describes what may be in its place. */
#include "data/xml_container.h"

#include "base/buf.h"

enum { CONTAINER_MAX = 8192, STRANGERS_MAX = 4 * CONTAINER_MAX };

/* Where in the text, outside of brackets and quotes, a character is: the first time from `from`
 * on, or the last time. text.len: nowhere. */
static size_t find_outside(struct str text, size_t from, char wanted, bool is_last)
{
    size_t found = text.len;
    int depth = 0;
    char quote = '\0';

    for (size_t i = from; i < text.len; i++) {
        const char c = text.data[i];

        if (quote != '\0')
            quote = c == quote ? '\0' : quote;
        else if (c == '"' || c == '\'')
            quote = c;
        else if (c == '[' || c == '(')
            depth++;
        else if (c == ']' || c == ')')
            depth--;
        else if (c == wanted && depth == 0) {
            found = i;
            if (!is_last)
                break;
        }
    }
    return found;
}

/* A name with or without a prefix, and nothing else. */
static bool is_name(struct str step)
{
    for (size_t i = 0; i < step.len; i++) {
        const char c = step.data[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_' || c == '-' || c == '.' || c == ':' || (c & 0x80) != 0))
            return false;
    }
    return step.len > 0 && step.data[0] != '.' && str_find(step, STR("::")) == step.len;
}

/* ---- branches ---- */

/* A part of a path between two |. */
struct branch {
    struct str before; /* the last step, without slashes; empty: there is nothing */
    struct str name;   /* of the last step, without its conditions; empty: it has none */
    bool is_deep;      /* the last step is searched at any depth */
    bool is_root;      /* the last step is the document's element */
};

static struct str local_name(struct str name)
{
    const size_t colon = str_find_char(name, ':');

    return colon < name.len ? str_slice(name, colon + 1, name.len) : name;
}

static struct branch branch_of(struct str text)
{
    const size_t slash = find_outside(text, 0, '/', true);
    const bool has_slash = slash < text.len;
    const struct str step = str_trim(str_slice(text, has_slash ? slash + 1 : 0, text.len));
    const size_t bracket = str_find_char(step, '[');
    const struct str name = str_trim(str_slice(step, 0, bracket));
    struct branch branch = { .before = str_slice(text, 0, has_slash ? slash : 0),
                             .name = is_name(name) ? name : STR(""),
                             .is_deep = !has_slash,
                             .is_root = has_slash && slash == 0 };

    if (branch.before.len > 0 && branch.before.data[branch.before.len - 1] == '/') {
        branch.before.len--;
        branch.is_deep = true;
    }
    return branch;
}

/* The branch that begins at *from, which moves to the next. False: there is none. */
static bool next_branch(struct str path, size_t *from, struct str *text)
{
    size_t end;

    if (*from > path.len)
        return false;
    end = find_outside(path, *from, '|', false);
    *text = str_trim(str_slice(path, *from, end));
    *from = end + 1;
    return true;
}

/* ---- the container ---- */

/* Its last step is an element of any name. */
static bool is_any(struct str path)
{
    return path.len > 0 && path.data[path.len - 1] == '*';
}

/* False: the branch does not show where it searches. */
static bool add_container(struct buf *out, struct str text)
{
    const struct branch branch = branch_of(text);

    if (text.len == 0 || text.data[0] == '(' || branch.is_deep || is_any(branch.before))
        return false;
    buf_add(out, branch.is_root ? text : branch.before);
    return true;
}

static bool add_containers(struct str path, const char *suffix, struct buf *out)
{
    struct str text;

    for (size_t from = 0; next_branch(path, &from, &text);) {
        if (out->len > 0)
            buf_add(out, STR(" | "));
        if (!add_container(out, text))
            return false;
        buf_add(out, str_of(suffix));
    }
    return true;
}

/* ---- strangers ---- */

/* The condition that an element has the name of an item. */
static void add_is_item(struct str path, struct buf *out)
{
    const char *separator = "";
    struct str text;

    for (size_t from = 0; next_branch(path, &from, &text);) {
        buf_printf(out, "%sself::%.*s", separator, STR_ARG(branch_of(text).name));
        separator = " or ";
    }
}

/* All branches search elements by name, below something. */
static bool has_names(struct str path)
{
    struct str text;

    for (size_t from = 0; next_branch(path, &from, &text);) {
        const struct branch branch = branch_of(text);

        if (branch.is_root || branch.name.len == 0)
            return false;
    }
    return true;
}

/* All branches search the children of one container. */
static bool has_one_container(struct str path, struct str *container)
{
    size_t from = 0;
    struct str text;

    *container = next_branch(path, &from, &text) ? branch_of(text).before : STR("");
    for (from = 0; next_branch(path, &from, &text);) {
        const struct branch branch = branch_of(text);

        if (!str_eq(branch.before, *container))
            return false;
    }
    return true;
}

/* An element that is called an error, in any case of letters. */
#define IS_ERROR                                                                      \
    "contains('|error|errors|fault|exception|', concat('|', translate(local-name(), " \
    "'ACEFILNOPRSTUX', 'acefilnoprstux'), '|'))"

static void add_strangers(struct str path, struct str is_item, struct buf *out)
{
    struct str container, text;

    for (size_t from = 0; next_branch(path, &from, &text);) {
        const struct branch branch = branch_of(text);

        buf_printf(out,
                   "%s%.*s/*[(local-name()='%.*s' or " IS_ERROR
                   ") and not(%.*s)] | %.*s/text()[normalize-space()]",
                   out->len > 0 ? " | " : "", STR_ARG(branch.before),
                   STR_ARG(local_name(branch.name)), STR_ARG(is_item), STR_ARG(branch.before));
    }
    if (has_one_container(path, &container))
        buf_printf(out,
                   " | %.*s[count(*) > 1 and not(*[%.*s]) and not(*[local-name() != "
                   "local-name(../*[1]) or namespace-uri() != namespace-uri(../*[1])])]",
                   STR_ARG(container), STR_ARG(is_item));
}

bool xml_container(struct arena *arena, struct str path, struct xml_container *container,
                   struct error *err)
{
    struct buf out, elements, is_item, strangers;

    *container = (struct xml_container){ STR(""), STR(""), STR("") };
    buf_init(&out, arena, CONTAINER_MAX);
    buf_init(&elements, arena, CONTAINER_MAX);
    buf_init(&is_item, arena, CONTAINER_MAX);
    buf_init(&strangers, arena, STRANGERS_MAX);
    if (!add_containers(path, "", &out) || !add_containers(path, "/*", &elements))
        return true;
    if (has_names(path)) {
        add_is_item(path, &is_item);
        add_strangers(path, buf_str(&is_item), &strangers);
    }
    if (!buf_ok(&out, err) || !buf_ok(&elements, err) || !buf_ok(&is_item, err) ||
        !buf_ok(&strangers, err))
        return false;
    *container = (struct xml_container){ buf_str(&out), buf_str(&elements), buf_str(&strangers) };
    return true;
}
