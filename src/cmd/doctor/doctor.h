/* doctor: what is wrong with the store and its surroundings, and what to do about it.
 *
 *      doctor.c         the command, what it prints
 *      doctor_store.c   the database: broken, incomplete, held up, growing; clocks, notes
 *      doctor_deep.c    --deep: whether records are what they were
 *      doctor_disk.c    how long a disk takes to keep what it is given
 *      doctor_live.c    --live: whether sources answer
 */
#ifndef PATRA_CMD_DOCTOR_DOCTOR_H
#define PATRA_CMD_DOCTOR_DOCTOR_H

#include "cli/command.h"
#include "cli/session.h"

extern const struct command COMMAND_DOCTOR;

struct doctor_finding {
    const char *check; /* stable: "store.index" */
    struct str text;
    struct str todo;
};

struct doctor {
    const struct invocation *invocation;
    struct session *session;
    int64_t slow_us; /* a disk or a database that takes longer is slow */
    struct doctor_finding *items;
    size_t count;
    size_t checks; /* that were made */
};

/* Both texts in the session's arena; a full one is noticed at the end. */
void doctor_add(struct doctor *doctor, const char *check, struct str text, struct str todo);

bool doctor_store(struct doctor *doctor, struct error *err) MUST_CHECK;
bool doctor_deep(struct doctor *doctor, struct error *err) MUST_CHECK;
bool doctor_disk(struct doctor *doctor, struct error *err) MUST_CHECK;
bool doctor_live(struct doctor *doctor, struct error *err) MUST_CHECK;

#endif
