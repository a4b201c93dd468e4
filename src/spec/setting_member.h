/* setting_member: the settings of a file that is one struct: a bus, a foreign outbox, a projection.
 *
 *      setting_read()    a node of the file becomes a value         spec/setting_value.h
 *      setting_put()     the value becomes a member of the struct
 *      setting_get()     and back
 *      setting_write()   the value as JSON, which setting_read() reads again
 *      setting_writer    all of them
 *
 * setting->into says which member; its kind is taken from the member's declaration.
 */
#ifndef PATRA_SPEC_SETTING_MEMBER_H
#define PATRA_SPEC_SETTING_MEMBER_H

#include "base/arena.h"
#include "base/attr.h"
#include "core/registry.h"
#include "data/json_write.h"
#include "spec/setting.h"

/* A value that is not set leaves the member, and an empty member gives a value that is not set.
 * False when memory ran out. */
bool setting_put(struct arena *arena, const struct setting *setting,
                 const struct registry_value *value, void *owner) MUST_CHECK;
bool setting_get(struct arena *arena, const struct setting *setting, const void *owner,
                 struct registry_value *value) MUST_CHECK;

void setting_write(struct arena *arena, const struct setting *setting,
                   const struct registry_value *value, struct json_writer *w);

/* "create.partitions" is in the group "create"; data NULL: in none. */
struct str setting_group(const struct setting *setting);

/* The settings of a struct as members of one object, those of a group as an object in it. Settings
 * of a group follow each other. The caller begins and ends the object. */
struct setting_writer {
    struct arena *arena;
    struct json_writer *w;
    struct str group; /* that is open; data NULL: none */
};
/* Nothing where it is not set; where memory ran out, the text of `w` has failed. */
void setting_writer_add(struct setting_writer *writer, const struct setting *setting,
                        const void *owner);
void setting_writer_end(struct setting_writer *writer);

#endif
