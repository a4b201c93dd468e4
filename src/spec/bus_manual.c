/* The reference of docs/buses.md, printed from the table. */
#include "spec/bus_setting.h"
#include "spec/manual.h"

static const char *const TYPE_NAMES[] = { [BUS_TYPE_NATS] = "nats",
                                          [BUS_TYPE_PUBSUB] = "pubsub",
                                          [BUS_TYPE_KAFKA] = "kafka",
                                          [BUS_TYPE_WEBHOOK] = "webhook" };

static void add_types(struct buf *out, unsigned types)
{
    const char *comma = "";

    if (types == FOR_ALL) {
        buf_add(out, STR("all"));
        return;
    }
    for (size_t i = 0; i < sizeof(TYPE_NAMES) / sizeof(TYPE_NAMES[0]); i++) {
        if ((types & (1U << i)) == 0)
            continue;
        buf_printf(out, "%s%s", comma, TYPE_NAMES[i]);
        comma = ", ";
    }
}

static bool is_first_use(size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (BUS_SETTINGS[i].setting.codes == BUS_SETTINGS[at].setting.codes)
            return false;
    }
    return BUS_SETTINGS[at].setting.codes != NULL;
}

void bus_manual_write(struct buf *out)
{
    buf_add(out, STR("## Settings\n\n`bus` is the name of the bus. **Required.**\n\n"
                     "| setting | of | value | default | |\n|---|---|---|---|---|\n"));
    for (size_t i = 0; i < BUS_SETTING_COUNT; i++) {
        const struct bus_setting *row = &BUS_SETTINGS[i];

        buf_printf(out, "| `%s` | ", row->setting.path);
        add_types(out, row->types);
        buf_add(out, STR(" | "));
        manual_add_type(out, &row->setting);
        buf_add(out, STR(" | "));
        if (row->setting.builtin != NULL)
            buf_printf(out, "`%s`", row->setting.builtin);
        if (row->other.types != 0) {
            buf_printf(out, "; `%s` for ", row->other.builtin);
            add_types(out, row->other.types);
        }
        buf_printf(out, " | %s", row->setting.help);
        if (row->required == row->types)
            buf_add(out, STR(" **Required.**"));
        else if (row->required != 0) {
            buf_add(out, STR(" **Required** for "));
            add_types(out, row->required);
            buf_add_char(out, '.');
        }
        buf_add(out, STR(" |\n"));
    }
    buf_add(out, STR("\n## Words\n\nCase does not matter, and `-` may be written for `_`.\n"));
    for (size_t i = 0; i < BUS_SETTING_COUNT; i++) {
        if (is_first_use(i))
            manual_add_words(out, BUS_SETTINGS[i].setting.codes);
    }
}
