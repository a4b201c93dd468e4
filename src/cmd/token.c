/* patra token: who may call the HTTP API. */
#include "cmd/token.h"

#include <string.h>

#include "adapter/system/system.h"
#include "cli/columns.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/who.h"
#include "engine/token/token.h"

/* ---- new ---- */

static bool read_request(const struct invocation *invocation, struct session *session,
                         struct token_request *request, struct error *err)
{
    int64_t lasts_us = 0;
    struct option_code scope;

    if (!invocation_code(invocation, "scope", &TOKEN_SCOPE_CODES, &scope, err) ||
        !invocation_duration(invocation, "expires", &lasts_us, err))
        return false;
    if (invocation_value(invocation, "expires") != NULL && lasts_us == 0)
        return command_misused(err, "--expires: must be longer than nothing");
    *request = (struct token_request){ .name = str_of(invocation->operands[0]),
                                       .scope = scope.is_given ? (enum token_scope)scope.value
                                                               : TOKEN_READ,
                                       .by = who_am_i(&session->arena),
                                       .now_us = clock_now_us(&session->clock) };
    request->expires_us = lasts_us > 0 ? request->now_us + lasts_us : 0;
    return true;
}

static bool make(const struct invocation *invocation, struct session *session, enum exit_code *code,
                 struct error *err)
{
    struct random_source random = system_random();
    struct token_request request;
    char text[TOKEN_TEXT_MAX];

    (void)code;
    if (!read_request(invocation, session, &request, err) ||
        !token_make(session->store, &random, &request, text, err))
        return false;
    fprintf(invocation->out, "%s\n", text);
    fprintf(invocation->talk, "This is shown once. Send it as: Authorization: Bearer TOKEN\n");
    explicit_bzero(text, sizeof(text));
    return true;
}

static enum exit_code cmd_new(const struct invocation *invocation)
{
    return session_run(invocation, make);
}

static const struct command new_command = {
    .name = "new",
    .summary = "make a token and print it, once",
    .operands = "NAME",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Makes a token for the HTTP API and prints it on standard output. Only a hash of it is\n"
        "stored, so it cannot be shown again. NAME says who has it: whatever is done with the\n"
        "token is recorded under that name. See docs/api.md.",
    .options = { { "scope", "SCOPE",
                   "What it allows: read, or operate, which may also change things (read)." },
                 { "expires", "DURATION", "How long it is valid, such as 90d (for ever)." },
                 SESSION_OPTION },
    .run = cmd_new,
};

/* ---- list ---- */

static struct str state_of(const struct token_row *token, int64_t now_us)
{
    if (token->revoked_us != 0)
        return STR("revoked");
    if (token->expires_us != 0 && token->expires_us <= now_us)
        return STR("expired");
    return STR("in force");
}

static void write_list(struct json_writer *w, const struct token_row_list *list, int64_t now_us)
{
    json_write_array(w);
    for (size_t i = 0; i < list->count; i++) {
        const struct token_row *token = &list->items[i];

        json_write_object(w);
        json_write_member_str(w, STR("name"), token->name);
        json_write_member_str(w, STR("selector"), token->selector);
        json_write_member_str(w, STR("scope"), code_of(&TOKEN_SCOPE_CODES, (int)token->scope));
        json_write_member_str(w, STR("state"), state_of(token, now_us));
        json_write_member_str(w, STR("createdBy"), token->created_by);
        json_write_member_instant(w, STR("createdAt"), token->created_us);
        if (token->expires_us != 0)
            json_write_member_instant(w, STR("expiresAt"), token->expires_us);
        if (token->revoked_us != 0) {
            json_write_member_instant(w, STR("revokedAt"), token->revoked_us);
            json_write_member_str(w, STR("revokedBy"), token->revoked_by);
        }
        json_write_end(w);
    }
    json_write_end(w);
}

static bool print_list(const struct token_row_list *list, struct session *session, int64_t now_us,
                       FILE *out, struct error *err)
{
    static const char *const heads[] = { "NAME", "SCOPE", "STATE", "SINCE", "EXPIRES", "BY" };
    struct columns columns;

    columns_init(&columns, &session->arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < list->count; i++) {
        const struct token_row *token = &list->items[i];

        columns_cell(&columns, token->name);
        columns_cell(&columns, code_of(&TOKEN_SCOPE_CODES, (int)token->scope));
        columns_cell(&columns, state_of(token, now_us));
        columns_brief(&columns, token->created_us, now_us);
        if (token->expires_us != 0)
            columns_brief(&columns, token->expires_us, now_us);
        else
            columns_cell(&columns, STR("never"));
        columns_cell(&columns, token->created_by);
    }
    return columns_print(&columns, out, err);
}

static bool list_tokens(const struct invocation *invocation, struct session *session,
                        enum exit_code *code, struct error *err)
{
    const int64_t now_us = clock_now_us(&session->clock);
    struct token_row_list list;
    struct output output;

    (void)code;
    if (!store_token_list(session->store, &session->arena, &list, err))
        return false;
    if (!invocation_flag(invocation, "json"))
        return print_list(&list, session, now_us, invocation->out, err);
    write_list(output_begin(&output, &session->arena), &list, now_us);
    return output_end(&output, invocation->out, err);
}

static enum exit_code cmd_list(const struct invocation *invocation)
{
    return session_run(invocation, list_tokens);
}

static const struct command list_command = {
    .name = "list",
    .summary = "list tokens",
    .operands_max = 0,
    .description = "Lists all tokens, also those that were revoked or have expired, never their\n"
                   "secrets.",
    .options = { { "json", NULL, "Print JSON." }, SESSION_OPTION },
    .run = cmd_list,
};

/* ---- revoke ---- */

static bool revoke(const struct invocation *invocation, struct session *session,
                   enum exit_code *code, struct error *err)
{
    const struct token_revocation revocation = { .name = str_of(invocation->operands[0]),
                                                 .by = who_am_i(&session->arena),
                                                 .now_us = clock_now_us(&session->clock) };
    bool revoked;

    (void)code;
    if (!store_token_revoke(session->store, &revocation, &revoked, err))
        return false;
    if (!revoked)
        return error_set(err, ERROR_REQUEST, "token.unknown", "no token %s is in force",
                         invocation->operands[0]);
    fprintf(invocation->out, "%s: revoked\n", invocation->operands[0]);
    return true;
}

static enum exit_code cmd_revoke(const struct invocation *invocation)
{
    return session_run(invocation, revoke);
}

static const struct command revoke_command = {
    .name = "revoke",
    .summary = "revoke a token",
    .operands = "NAME",
    .operands_min = 1,
    .operands_max = 1,
    .description = "The token is refused from now on, by every process. Its row is kept.",
    .options = { SESSION_OPTION },
    .run = cmd_revoke,
};

static const struct command *const children[] = { &new_command, &list_command, &revoke_command,
                                                  NULL };

const struct command COMMAND_TOKEN = {
    .name = "token",
    .summary = "make, list and revoke tokens of the HTTP API",
    .description =
        "Whoever is not on the machine of the server, or changes something, needs a token.",
    .children = children,
};
