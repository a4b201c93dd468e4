/* token_scope: what a token of the HTTP API allows. */
#ifndef PATRA_CORE_TOKEN_SCOPE_H
#define PATRA_CORE_TOKEN_SCOPE_H

#include "core/codes.h"

enum token_scope {
    TOKEN_READ,    /* everything that changes nothing */
    TOKEN_OPERATE, /* and the rest */
};
extern const struct code_table TOKEN_SCOPE_CODES;

#endif
