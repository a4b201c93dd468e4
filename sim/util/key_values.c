/* Takes "key=value" pairs off a line. */
#include "sim/util/key_values.h"

#include <stdlib.h>
#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool key_values_next(struct str *rest, struct key_value *pair)
{
    size_t len = 0;

    *rest = str_trim(*rest);
    if (rest->len == 0 || rest->data[0] == '#') {
        rest->len = 0;
        return false;
    }
    while (len < rest->len && !is_blank(rest->data[len]) && rest->data[len] != '=')
        len++;
    pair->name = str_slice(*rest, 0, len);
    pair->value = STR("");
    *rest = str_slice(*rest, len, rest->len);
    if (rest->len == 0 || rest->data[0] != '=')
        return true;
    *rest = str_slice(*rest, 1, rest->len);
    if (rest->len > 0 && rest->data[0] == '"') {
        const struct str inside = str_slice(*rest, 1, rest->len);

        len = str_find_char(inside, '"');
        if (len == inside.len)
            return false;
        pair->value = str_slice(inside, 0, len);
        *rest = str_slice(inside, len + 1, inside.len);
        return true;
    }
    for (len = 0; len < rest->len && !is_blank(rest->data[len]);)
        len++;
    pair->value = str_slice(*rest, 0, len);
    *rest = str_slice(*rest, len, rest->len);
    return true;
}

int key_values_choice(struct str word, const char *const *words)
{
    for (int i = 0; words[i] != NULL; i++) {
        if (str_eq(word, str_of(words[i])))
            return i;
    }
    return -1;
}

bool key_values_number(struct str text, double *value)
{
    char copy[64];
    char *end;

    if (text.len == 0 || text.len >= sizeof(copy) || text.data[0] < '0' || text.data[0] > '9')
        return false;
    memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    *value = strtod(copy, &end);
    return *end == '\0' && *value >= 0 && *value < 1e15;
}
