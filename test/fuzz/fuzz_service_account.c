/* A service account's key file: an account, or an error that quotes nothing of it. What was read
 * can be asked to sign; a key that is none is an error, too. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "data/service_account.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct service_account account;
    struct arena arena;
    struct error err;
    struct str form;

    arena_init(&arena, 4 << 20);
    if (!service_account_read(&arena, (struct str){ (const char *)bytes, size }, &account, &err)) {
        assert(err.level == ERROR_FATAL);
        assert(strcmp(err.code, "auth.key") == 0);
    } else {
        assert(account.email.len > 0 && account.key_id.len > 0 && account.private_key.len > 0);
        assert(str_starts(account.token_url, STR("https://")));
        if (!service_account_form(&arena, &account, STR("scope"), 1, &form, &err))
            assert(err.level == ERROR_FATAL || arena_error_is_limit(&err) || err.level != 0);
    }
    arena_release(&arena);
    return 0;
}
