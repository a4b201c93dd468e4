/* What the fixtures have in common. */
#include "http_contract.h"

struct http_response contract_reply;
struct error contract_err;
static struct arena arena;

struct arena *http_contract_arena(void)
{
    arena_release(&arena);
    arena_init(&arena, 256 << 20);
    return &arena;
}

const char *http_contract_try(const struct http_request *request)
{
    struct http_request allowed = *request;

    allowed.allow_plain_http = true;
    contract_err = (struct error){ 0 };
    return http_send(http_contract_begin(), http_contract_arena(), &allowed, &contract_reply,
                     &contract_err)
               ? ""
               : contract_err.code;
}
