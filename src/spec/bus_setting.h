/* bus_setting: everything a bus file can say, one row per key.
 *
 * The same rows read and check the file, write and read its stored form, compare two of them and
 * make the manual. A new setting is a row here and a member of struct bus_spec.
 */
#ifndef PATRA_SPEC_BUS_SETTING_H
#define PATRA_SPEC_BUS_SETTING_H

#include "base/attr.h"
#include "base/buf.h"
#include "core/bus_spec.h"
#include "spec/setting.h"

/* Which types of buses have a setting; several may be or-ed. */
enum bus_setting_type {
    FOR_NATS = 1 << BUS_TYPE_NATS,
    FOR_PUBSUB = 1 << BUS_TYPE_PUBSUB,
    FOR_KAFKA = 1 << BUS_TYPE_KAFKA,
    FOR_WEBHOOK = 1 << BUS_TYPE_WEBHOOK,
    FOR_ALL = FOR_NATS | FOR_PUBSUB | FOR_KAFKA | FOR_WEBHOOK,
};

struct bus_setting {
    unsigned types;
    unsigned required;      /* by these types */
    struct setting setting; /* of it: path, type, builtin, min, max, codes, into, help */
    struct {
        unsigned types;
        const char *builtin;
    } other; /* the default of these types, where it is another one */
};

extern const struct bus_setting BUS_SETTINGS[];
extern const size_t BUS_SETTING_COUNT;

/* The row of this path ("auth.user"), or NULL. */
const struct bus_setting *bus_setting_find(struct str path);

/* True when there are settings below this name: "auth". */
bool bus_setting_is_group(struct str name);

static inline bool bus_setting_is_for(const struct bus_setting *row, enum bus_type type)
{
    return (row->types & (1U << type)) != 0;
}

/* Markdown: the settings by group, and the words of their dictionaries. A test compares it with
 * docs/buses.md, as for spec/manual.h. */
void bus_manual_write(struct buf *out);

#endif
