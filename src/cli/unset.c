/* References of a source that lead to no value on this machine. */
#include "cli/unset.h"

#include "adapter/system/system.h"
#include "base/list.h"

static bool is_known(const struct unset_list *list, struct str reference)
{
    for (size_t i = 0; i < list->count; i++) {
        if (str_eq(list->items[i].reference, reference))
            return true;
    }
    return false;
}

static bool is_there(struct str reference)
{
    struct system_secrets secrets;
    struct secret secret;
    struct error ignored; /* the answer is whether it exists */

    system_secrets_init(&secrets, NULL);
    if (!secret_get(&secrets.source, reference, &secret, &ignored))
        return false;
    secret_wipe(&secret);
    return true;
}

static bool note(struct arena *arena, struct unset_list *list, struct unset unset,
                 struct error *err)
{
    struct unset *slot;

    if (!secret_is_reference(unset.reference) || is_known(list, unset.reference) ||
        is_there(unset.reference))
        return true;
    slot = LIST_ADD(arena, list);
    if (slot == NULL)
        return arena_error(arena, err);
    *slot = unset;
    return true;
}

static bool note_auth(struct arena *arena, struct unset_list *list, const struct spec_auth *auth,
                      bool is_required, struct error *err)
{
    const struct str references[] = { auth->secret, auth->username, auth->password, auth->client_id,
                                      auth->client_secret };

    for (size_t i = 0; i < ARRAY_LEN(references) && !auth->is_optional; i++) {
        if (!note(arena, list, (struct unset){ references[i], is_required }, err))
            return false;
    }
    return true;
}

/* Of several credentials one is enough. */
static bool note_credentials(struct arena *arena, struct unset_list *list,
                             const struct spec_endpoint *endpoint, struct error *err)
{
    bool is_required = true;

    if (endpoint->variant_count == 0)
        return note_auth(arena, list, &endpoint->auth, true, err);
    for (size_t i = 0; i < endpoint->variant_count; i++) {
        struct unset_list own = { 0 };

        if (!note_auth(arena, &own, &endpoint->variants[i].auth, true, err))
            return false;
        is_required = is_required && own.count > 0;
    }
    for (size_t i = 0; i < endpoint->variant_count; i++) {
        if (!note_auth(arena, list, &endpoint->variants[i].auth, is_required, err))
            return false;
    }
    return true;
}

bool unset_find(struct arena *arena, const struct spec *spec, struct unset_list *list,
                struct error *err)
{
    *list = (struct unset_list){ 0 };
    for (size_t i = 0; i < spec->param_count; i++) {
        const struct spec_value *param = &spec->params[i];

        if (!param->has_default &&
            !note(arena, list, (struct unset){ param->value, param->is_required }, err))
            return false;
    }
    return note_credentials(arena, list, &spec->endpoint, err) &&
           (!spec->is_two_phase || note_credentials(arena, list, &spec->detail, err));
}
