/* Reads .proto files. */
#include "spec/event_proto.h"

#include <string.h>

#include "base/list.h"
#include "base/quote.h"

/* ---- tokens ---- */

enum token_kind { TOKEN_END, TOKEN_NAME, TOKEN_NUMBER, TOKEN_TEXT, TOKEN_SIGN };

struct token {
    enum token_kind kind;
    struct str text; /* of a TOKEN_TEXT without its quotes */
};

struct reader {
    struct arena *arena;
    struct error *err;
    struct str text;
    size_t at;          /* after the token */
    size_t begin;       /* of the token */
    struct token token; /* the next one to be taken */
    struct event_schema *schema;
    size_t fields;
    bool failed;
};

static bool fail(struct reader *r, const char *expected)
{
    size_t line = 1, column = 1;

    if (r->failed)
        return false;
    r->failed = true;
    for (size_t i = 0; i < r->begin; i++) {
        column = r->text.data[i] == '\n' ? 1 : column + 1;
        line += r->text.data[i] == '\n';
    }
    return error_set(r->err, ERROR_REQUEST, "proto.syntax", "%zu:%zu: expected %s, found %s", line,
                     column, expected,
                     r->token.kind == TOKEN_END ? "the end" : QUOTE(r->token.text));
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static char peek(const struct reader *r, size_t ahead)
{
    return r->at + ahead < r->text.len ? r->text.data[r->at + ahead] : '\0';
}

static void skip_comment(struct reader *r)
{
    const bool is_line = peek(r, 1) == '/';
    const char *const end = is_line ? "\n" : "*/";
    const struct str rest = str_slice(r->text, r->at + 2, r->text.len);
    const size_t found = str_find(rest, str_of(end));

    r->at += 2 + found + (found < rest.len ? strlen(end) : 0);
}

static void skip_space(struct reader *r)
{
    while (r->at < r->text.len) {
        const char c = peek(r, 0);

        if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v')
            r->at++;
        else if (c == '/' && (peek(r, 1) == '/' || peek(r, 1) == '*'))
            skip_comment(r);
        else
            return;
    }
}

/* A quoted text; its escapes stay, because only names are compared. */
static bool read_quoted(struct reader *r)
{
    const char quote = peek(r, 0);

    r->at++;
    r->begin = r->at;
    while (r->at < r->text.len && peek(r, 0) != quote && peek(r, 0) != '\n')
        r->at += peek(r, 0) == '\\' && r->at + 1 < r->text.len ? 2 : 1;
    r->token = (struct token){ TOKEN_TEXT, str_slice(r->text, r->begin, r->at) };
    if (r->at >= r->text.len || peek(r, 0) != quote)
        return fail(r, "the end of a quoted text");
    r->at++;
    return true;
}

/* Takes the present token and reads the next one. A name may have points: "google.protobuf.Any". */
static bool next(struct reader *r)
{
    char c;

    if (r->failed)
        return false;
    skip_space(r);
    r->begin = r->at;
    if (r->at >= r->text.len) {
        r->begin = r->at = r->text.len;
        r->token = (struct token){ TOKEN_END, STR("") };
        return true;
    }
    c = peek(r, 0);
    if (c == '"' || c == '\'')
        return read_quoted(r);
    if (!is_word(c) && !(c == '.' && is_word(peek(r, 1)))) {
        r->at++;
        r->token = (struct token){ TOKEN_SIGN, str_slice(r->text, r->begin, r->at) };
        return true;
    }
    do {
        r->at++;
    } while (is_word(peek(r, 0)) || (peek(r, 0) == '.' && is_word(peek(r, 1))));
    r->token = (struct token){ c >= '0' && c <= '9' ? TOKEN_NUMBER : TOKEN_NAME,
                               str_slice(r->text, r->begin, r->at) };
    return true;
}

static bool is_sign(const struct reader *r, char sign)
{
    return r->token.kind == TOKEN_SIGN && r->token.text.data[0] == sign;
}

static bool is_name(const struct reader *r, const char *name)
{
    return r->token.kind == TOKEN_NAME && str_eq(r->token.text, str_of(name));
}

static bool take_sign(struct reader *r, char sign, const char *expected)
{
    return is_sign(r, sign) ? next(r) : fail(r, expected);
}

static bool take_name(struct reader *r, const char *expected, struct str *name)
{
    if (r->token.kind != TOKEN_NAME)
        return fail(r, expected);
    *name = r->token.text;
    return next(r);
}

/* Decimal, hexadecimal or octal, as in C. */
static bool number_of(struct str text, int64_t *number)
{
    const int base = str_starts(text, STR("0x")) || str_starts(text, STR("0X")) ? 16
                     : text.len > 1 && text.data[0] == '0'                      ? 8
                                                                                : 10;
    int64_t value = 0;

    for (size_t i = base == 16 ? 2 : 0; i < text.len; i++) {
        static const char digits[] = "0123456789abcdef";
        const char lower = (char)(text.data[i] | (text.data[i] > '9' ? 0x20 : 0));
        const char *digit = memchr(digits, lower, (size_t)base);

        if (digit == NULL || value > INT32_MAX)
            return false;
        value = value * base + (digit - digits);
    }
    *number = value;
    return value <= INT32_MAX;
}

static bool take_number(struct reader *r, int64_t *number)
{
    const bool is_negative = is_sign(r, '-');

    if (is_negative && !next(r))
        return false;
    if (r->token.kind != TOKEN_NUMBER || !number_of(r->token.text, number))
        return fail(r, "a whole number of 31 bits");
    if (is_negative)
        *number = -*number;
    return next(r);
}

/* Passes over everything up to the sign, brackets inside each other included. */
static bool skip_to(struct reader *r, char sign)
{
    int depth = 0;

    while (depth > 0 || !is_sign(r, sign)) {
        if (r->token.kind == TOKEN_END)
            return fail(r, sign == ';' ? "';'" : "a closing bracket");
        if (is_sign(r, '{') || is_sign(r, '['))
            depth++;
        else if (is_sign(r, '}') || is_sign(r, ']'))
            depth--;
        if (depth < 0)
            return fail(r, "';'");
        if (!next(r))
            return false;
    }
    return next(r);
}

static bool skip_options(struct reader *r)
{
    return !is_sign(r, '[') || (next(r) && skip_to(r, ']'));
}

static bool skip_block(struct reader *r)
{
    while (!is_sign(r, '{')) {
        if (r->token.kind == TOKEN_END)
            return fail(r, "'{'");
        if (!next(r))
            return false;
    }
    return next(r) && skip_to(r, '}');
}

/* ---- parts of messages ---- */

static bool limit(struct reader *r, const char *what, int most)
{
    r->failed = true;
    return error_set(r->err, ERROR_REQUEST, "proto.limit", "the file has more than %d %s", most,
                     what);
}

static bool add_field(struct reader *r, struct schema_message *message,
                      const struct schema_field *field)
{
    struct schema_field *added;

    if (++r->fields > EVENT_PROTO_FIELDS_MAX)
        return limit(r, "fields", EVENT_PROTO_FIELDS_MAX);
    added = LIST_ADD(r->arena, &message->fields);
    if (added == NULL)
        return arena_error(r->arena, r->err);
    *added = *field;
    return true;
}

static bool add_reserved(struct reader *r, struct schema_message *message,
                         const struct schema_reserved *reserved)
{
    struct schema_reserved *added;

    if (++r->fields > EVENT_PROTO_FIELDS_MAX)
        return limit(r, "fields", EVENT_PROTO_FIELDS_MAX);
    added = LIST_ADD(r->arena, &message->reserved);
    if (added == NULL)
        return arena_error(r->arena, r->err);
    *added = *reserved;
    return true;
}

/* 2, 9 to 11, 40 to max */
static bool read_range(struct reader *r, struct schema_reserved *reserved)
{
    if (!take_number(r, &reserved->first))
        return false;
    reserved->last = reserved->first;
    if (!is_name(r, "to"))
        return true;
    if (!next(r))
        return false;
    if (!is_name(r, "max"))
        return take_number(r, &reserved->last);
    reserved->last = INT32_MAX;
    return next(r);
}

static bool read_reserved(struct reader *r, struct schema_message *message)
{
    bool more;

    do {
        struct schema_reserved reserved = { 0 };

        if (!next(r)) /* the word, or a comma */
            return false;
        if (r->token.kind == TOKEN_TEXT || r->token.kind == TOKEN_NAME) {
            reserved.name = r->token.text;
            if (reserved.name.len == 0)
                return fail(r, "a name");
            if (!next(r))
                return false;
        } else if (!read_range(r, &reserved)) {
            return false;
        }
        if (!add_reserved(r, message, &reserved))
            return false;
        more = is_sign(r, ',');
    } while (more);
    return take_sign(r, ';', "';'");
}

/* NAME = NUMBER [options]; */
static bool read_rest(struct reader *r, struct schema_message *message, struct schema_field *field)
{
    if (!take_name(r, "the name of a field", &field->name) || !take_sign(r, '=', "'='") ||
        !take_number(r, &field->number))
        return false;
    if (field->number < 1)
        return fail(r, "a number from 1");
    return skip_options(r) && take_sign(r, ';', "';'") && add_field(r, message, field);
}

static bool read_map(struct reader *r, struct schema_message *message)
{
    struct schema_field field = { .shape = SHAPE_MAP };

    return next(r) && take_name(r, "the type of keys", &field.key_type) &&
           take_sign(r, ',', "','") && take_name(r, "the type of values", &field.type) &&
           take_sign(r, '>', "'>'") && read_rest(r, message, &field);
}

static bool read_field(struct reader *r, struct schema_message *message, struct str oneof)
{
    struct schema_field field = { .oneof = oneof };
    struct str word;

    if (!take_name(r, "a field, a message, an enum or '}'", &word))
        return false;
    if (str_eq(word, STR("map")) && is_sign(r, '<'))
        return read_map(r, message);
    if (r->token.kind == TOKEN_NAME &&
        (str_eq(word, STR("repeated")) || str_eq(word, STR("optional")) ||
         str_eq(word, STR("required"))) &&
        oneof.len == 0) {
        field.shape = str_eq(word, STR("repeated")) ? SHAPE_LIST : SHAPE_ONE;
        field.is_required = str_eq(word, STR("required"));
        if (!take_name(r, "a type", &word))
            return false;
    }
    if (str_eq(word, STR("group")))
        return fail(r, "a field: groups are not read");
    field.type = word;
    return read_rest(r, message, &field);
}

static bool read_oneof(struct reader *r, struct schema_message *message)
{
    struct str name;

    if (!next(r) || !take_name(r, "the name of a oneof", &name) || !take_sign(r, '{', "'{'"))
        return false;
    while (!is_sign(r, '}')) {
        if (is_name(r, "option") ? !skip_to(r, ';') : !read_field(r, message, name))
            return false;
    }
    return next(r);
}

static bool read_value(struct reader *r, struct schema_message *message)
{
    struct schema_field value = { 0 };

    return take_name(r, "the name of a value", &value.name) && take_sign(r, '=', "'='") &&
           take_number(r, &value.number) && skip_options(r) && take_sign(r, ';', "';'") &&
           add_field(r, message, &value);
}

/* ---- messages ---- */

/* A message or enum NAME {; its name with those around it. */
static bool begin_message(struct reader *r, struct str around, struct schema_message *message)
{
    struct str name;

    if (!next(r) || !take_name(r, "a name", &name) || !take_sign(r, '{', "'{'"))
        return false;
    message->name = around.len == 0
                        ? name
                        : arena_printf(r->arena, "%.*s.%.*s", STR_ARG(around), STR_ARG(name));
    return message->name.data != NULL || arena_error(r->arena, r->err);
}

static bool end_message(struct reader *r, const struct schema_message *message)
{
    struct schema_message *added = LIST_ADD(r->arena, &r->schema->messages);

    if (added == NULL)
        return arena_error(r->arena, r->err);
    *added = *message;
    return ++r->fields <= EVENT_PROTO_FIELDS_MAX ? next(r)
                                                 : limit(r, "fields", EVENT_PROTO_FIELDS_MAX);
}

static bool read_enum(struct reader *r, struct str around)
{
    struct schema_message message = { .is_enum = true };

    if (!begin_message(r, around, &message))
        return false;
    while (!is_sign(r, '}')) {
        const bool ok = is_name(r, "option")     ? skip_to(r, ';')
                        : is_name(r, "reserved") ? read_reserved(r, &message)
                        : is_sign(r, ';')        ? next(r)
                                                 : read_value(r, &message);

        if (!ok)
            return false;
    }
    return end_message(r, &message);
}

static bool read_message(struct reader *r, struct str around, int depth);

static bool read_part(struct reader *r, struct schema_message *message, int depth)
{
    if (is_sign(r, ';'))
        return next(r);
    if (is_name(r, "message"))
        return read_message(r, message->name, depth + 1);
    if (is_name(r, "enum"))
        return read_enum(r, message->name);
    if (is_name(r, "oneof"))
        return read_oneof(r, message);
    if (is_name(r, "reserved"))
        return read_reserved(r, message);
    if (is_name(r, "option") || is_name(r, "extensions"))
        return skip_to(r, ';');
    if (is_name(r, "extend"))
        return fail(r, "a field: extensions are not read");
    return read_field(r, message, (struct str){ 0 });
}

static bool read_message(struct reader *r, struct str around, int depth)
{
    struct schema_message message = { 0 };

    if (depth > EVENT_PROTO_DEPTH_MAX)
        return limit(r, "messages inside each other", EVENT_PROTO_DEPTH_MAX);
    if (!begin_message(r, around, &message))
        return false;
    while (!is_sign(r, '}')) {
        if (!read_part(r, &message, depth))
            return false;
    }
    return end_message(r, &message);
}

static bool read_statement(struct reader *r)
{
    if (is_sign(r, ';'))
        return next(r);
    if (is_name(r, "message"))
        return read_message(r, (struct str){ 0 }, 1);
    if (is_name(r, "enum"))
        return read_enum(r, (struct str){ 0 });
    if (is_name(r, "service"))
        return skip_block(r);
    if (is_name(r, "package"))
        return next(r) && take_name(r, "the name of the package", &r->schema->name) &&
               take_sign(r, ';', "';'");
    if (is_name(r, "syntax") || is_name(r, "edition") || is_name(r, "import") ||
        is_name(r, "option"))
        return skip_to(r, ';');
    return fail(r, "a message or an enum");
}

/* ---- names of types ---- */

static bool is_declared(const struct event_schema *schema, struct str name)
{
    for (size_t i = 0; i < schema->messages.count; i++) {
        if (str_eq(schema->messages.items[i].name, name))
            return true;
    }
    return false;
}

/* Without the package, if it begins with it. */
static struct str within(struct str package, struct str type)
{
    if (package.len > 0 && type.len > package.len && type.data[package.len] == '.' &&
        str_starts(type, package))
        return str_slice(type, package.len + 1, type.len);
    return type;
}

/* "a.b" is inside "a". */
static struct str outer(struct str scope)
{
    while (scope.len > 0 && scope.data[scope.len - 1] != '.')
        scope.len--;
    return str_slice(scope, 0, scope.len > 0 ? scope.len - 1 : 0);
}

static struct str joined(struct reader *r, struct str scope, struct str type)
{
    return scope.len == 0 ? type
                          : arena_printf(r->arena, "%.*s.%.*s", STR_ARG(scope), STR_ARG(type));
}

/* Looks from the innermost message outwards, then through the package. */
static struct str resolved(struct reader *r, struct str scope, struct str type)
{
    const struct str package = r->schema->name;
    struct str around = package;

    for (;; scope = outer(scope)) {
        const struct str name = joined(r, scope, type);

        if (name.data == NULL || is_declared(r->schema, name))
            return name;
        if (scope.len == 0)
            break;
    }
    for (; around.len > 0; around = outer(around)) {
        const struct str name = within(package, joined(r, outer(around), type));

        if (is_declared(r->schema, name))
            return name;
    }
    return type;
}

static bool resolve_types(struct reader *r)
{
    for (size_t i = 0; i < r->schema->messages.count; i++) {
        const struct schema_message *message = &r->schema->messages.items[i];

        for (size_t k = 0; k < message->fields.count; k++) {
            struct str *type = &message->fields.items[k].type;

            if (type->len > 1 && type->data[0] == '.')
                *type = within(r->schema->name, str_slice(*type, 1, type->len));
            else if (type->len > 0)
                *type = resolved(r, message->name, *type);
        }
    }
    return !r->arena->failed || arena_error(r->arena, r->err);
}

bool event_proto_read(struct arena *arena, struct str text, struct event_schema *schema,
                      struct error *err)
{
    struct reader r = { .arena = arena, .err = err, .text = text, .schema = schema };

    *schema = (struct event_schema){ 0 };
    if (text.len > EVENT_PROTO_BYTES_MAX)
        return limit(&r, "bytes", EVENT_PROTO_BYTES_MAX);
    if (!next(&r))
        return false;
    while (r.token.kind != TOKEN_END) {
        if (!read_statement(&r))
            return false;
    }
    return resolve_types(&r);
}
