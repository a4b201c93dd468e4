/* patra cursor: how far each namespace is, what holds it back, and setting it. What its files
 * share. */
#ifndef PATRA_CMD_CURSOR_CURSOR_H
#define PATRA_CMD_CURSOR_CURSOR_H

#include "cli/command.h"
#include "cli/session.h"
#include "data/json_write.h"
#include "engine/cursor/cursor_view.h"
#include "port/store_cursor.h"

extern const struct command COMMAND_CURSOR;

extern const struct command CURSOR_SHOW;    /* cursor_show.c */
extern const struct command CURSOR_VERIFY;  /* cursor_mend.c */
extern const struct command CURSOR_REBUILD; /* cursor_mend.c */
extern const struct command CURSOR_RESET;   /* cursor_reset.c */

/* Which are meant: SOURCE, SOURCE/OPERATION, or all. */
struct cursor_choice {
    struct str source; /* '': all */
    bool has_operation;
    enum operation operation;
    struct str namespace_key; /* how it begins; '': any */
};

/* The first operand, if there is one. */
bool cursor_choice_read(const struct invocation *invocation, struct cursor_choice *choice,
                        struct error *err) MUST_CHECK;
bool cursor_choice_operation(struct cursor_choice *choice, struct str word,
                             struct error *err) MUST_CHECK;
bool cursor_is_chosen(const struct cursor_choice *choice, const struct cursor_name *name);

/* None found may be a typing error: false ("source.unknown") where there is no such source. */
bool cursor_choice_check(struct session *session, const struct cursor_choice *choice, size_t found,
                         struct error *err) MUST_CHECK;

/* The cursors chosen, by name. */
bool cursor_list_chosen(struct session *session, const struct cursor_choice *choice,
                        struct cursor_list *list, struct error *err) MUST_CHECK;

/* "crossref harvest works.indexed EXPR 1a2b3c4d5e6f", in the arena. */
struct str cursor_title(struct arena *arena, const struct cursor_name *name);

/* The members of a JSON object that name it. */
void cursor_write_name(struct json_writer *w, const struct cursor_name *name);
void cursor_write_value(struct json_writer *w, struct str member, const struct cursor_value *value);
void cursor_write(struct json_writer *w, const struct cursor *cursor, const struct cursor_way *way);

#endif
