/* The scopes of tokens. Not among the dictionaries: no row of the domain has one. */
#include "core/token_scope.h"

static const struct code_item ITEMS[] = {
    CODE_ITEM("read", "May see everything, and change nothing."),
    CODE_ITEM("operate", "May also trigger, pause, cancel, reset, retry and skip."),
};

const struct code_table TOKEN_SCOPE_CODES =
    CODE_TABLE("sys_token_scope", "What a token of the HTTP API allows.", ITEMS);
