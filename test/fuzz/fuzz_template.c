/* A template from outside, rendered in every place: what comes out must fit the place, and what is
 * redacted must not hold the secret. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/instant.h"
#include "data/json.h"
#include "data/template.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define SECRET "S3CR3T"

static bool resolve(void *context, struct arena *arena, const struct template_use *use,
                    struct template_value *value, struct error *err)
{
    static const struct str items[] = { STR_INIT("1"), STR_INIT("a b\"") };

    (void)context;
    (void)arena;
    (void)err;
    if (use->scope == TEMPLATE_CREDENTIAL) {
        *value = (struct template_value){ .type = TEMPLATE_TEXT, .text = STR(SECRET) };
        return true;
    }
    *value = (struct template_value){ .type = TEMPLATE_TEXT, .text = use->name };
    for (size_t i = 0; i < template_variables_count; i++) {
        if (template_variables[i].scope == use->scope &&
            str_eq(use->name, str_of(template_variables[i].name)))
            value->type = template_variables[i].type;
    }
    if (value->type == TEMPLATE_LIST) {
        value->items = items;
        value->count = 2;
    }
    if (str_eq(use->name, STR("null")))
        value->type = TEMPLATE_NULL;
    return true;
}

static void check_place(enum template_place place, struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        const unsigned char c = (unsigned char)text.data[i];

        if (place == TEMPLATE_QUERY)
            assert(c > 0x20 && c < 0x7F && strchr("&#=?/", c) == NULL);
        if (place == TEMPLATE_HEADER)
            assert(c >= 0x20 && c != 0x7F);
        if (place == TEMPLATE_PATH)
            assert(c > 0x20 && c != 0x7F);
    }
    if (place == TEMPLATE_JSON)
        assert(json_is_valid(text));
}

static void render(const struct template *template, struct arena *arena, enum template_place place,
                   bool redacted)
{
    const struct template_resolver resolver = { .resolve = resolve };
    const struct template_request request = {
        .resolver = &resolver, .place = place, .redacted = redacted, .bytes_max = 1 << 16
    };
    struct template_result result;
    struct error err;

    if (!template_render(template, arena, &request, &result, &err)) {
        assert(err.level == ERROR_REQUEST);
        return;
    }
    if (result.is_omitted)
        return;
    check_place(place, result.text);
    if (redacted && str_find(template->text, STR(SECRET)) == template->text.len)
        assert(str_find(result.text, STR(SECRET)) == result.text.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const struct str text = { (const char *)bytes, size };
    struct template_faults faults;
    struct template template;
    struct arena arena;
    struct error err;

    arena_init(&arena, 4 << 20);
    if (template_compile(&template, &arena, text, &faults, &err)) {
        for (int place = TEMPLATE_RAW; place <= TEMPLATE_JSON; place++) {
            render(&template, &arena, (enum template_place)place, false);
            render(&template, &arena, (enum template_place)place, true);
        }
    } else {
        assert(faults.count > 0);
        for (size_t i = 0; i < faults.count && i < TEMPLATE_FAULTS_MAX; i++)
            assert(faults.items[i].offset <= size);
    }
    arena_release(&arena);
    return 0;
}
