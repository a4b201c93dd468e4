/* bus: patra bus lint | test | apply | diff | list | show | remove. */
#ifndef PATRA_CMD_BUS_BUS_H
#define PATRA_CMD_BUS_BUS_H

#include "cli/command.h"
#include "cli/session.h"
#include "core/bus_spec.h"
#include "port/store_subscription.h"

extern const struct command COMMAND_BUS;
extern const struct command COMMAND_BUS_LINT; /* bus_file.c */
extern const struct command COMMAND_BUS_TEST; /* bus_test.c */

/* Reads and checks a file, and prints its faults; *clean is false when it has errors. Returns false
 * when the file cannot be read, or for failures that are not its fault. */
bool bus_file_read(const struct invocation *invocation, struct arena *arena, const char *path,
                   struct bus_spec *spec, bool *clean, struct error *err) MUST_CHECK;

/* The bus of this name as it is applied. L2 "bus.unknown" when there is none. */
bool bus_find(struct session *session, struct str name, struct subscription *row,
              struct bus_spec *spec, struct error *err) MUST_CHECK;

/* The word of a bus' type, as files have it. */
struct str bus_type_word(enum bus_type type);

#endif
