/* patra top: the state of everything in a terminal, drawn again every two seconds. */
#include "cmd/top/top.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/module.h"
#include "cli/session.h"
#include "cmd/top/top_lines.h"
#include "engine/session/store_retry.h"
#include "view/outbox.h"
#include "view/status.h"

enum { ROUND_MS = 2000, ROUND_BYTES_MAX = 256 << 20 };

struct top {
    const struct screen_library *library;
    struct screen *screen;
    struct session *session;
    struct store_retry retry;
    struct arena arena; /* of a round */
    struct top_lines lines;
    size_t first; /* line that is shown */
};

static bool gather(struct top *top, struct error *err)
{
    const struct view_status_filter all = { 0 };
    struct view_reader reader = session_reader(top->session);
    struct view_status status;
    struct view_outbox outbox;

    reader.arena = &top->arena;
    return store_retry_ready(&top->retry, err) && view_status(&reader, &all, &status, err) &&
           view_outbox(&reader, &outbox, err) &&
           top_lines_make(&top->arena, &status, &outbox, &top->lines, err);
}

/* A store that is away is shown as such, and asked again. */
static void look(struct top *top)
{
    static const struct screen_line title = { SCREEN_TITLE, STR_INIT("patra  q ends") };
    struct screen_line *lines;
    struct error err;

    arena_reset(&top->arena);
    if (gather(top, &err))
        return;
    (void)store_retry_failed(&top->retry, &err);
    arena_reset(&top->arena);
    lines = ARENA_ARRAY(&top->arena, struct screen_line, 2);
    top->lines = (struct top_lines){ lines, lines != NULL ? 2 : 0 };
    if (lines == NULL)
        return;
    lines[0] = title;
    lines[1] = (struct screen_line){ SCREEN_BAD, arena_copy(&top->arena, str_of(err.text)) };
}

static void draw(struct top *top)
{
    const struct screen_size size = top->library->size(top->screen);
    const size_t rows = size.rows > 0 ? (size_t)size.rows : 0;
    const size_t most = top->lines.count > rows ? top->lines.count - rows : 0;

    if (top->first > most)
        top->first = most;
    top->library->draw(top->screen, top->lines.items + top->first, top->lines.count - top->first);
}

static void run(struct top *top)
{
    struct clock *clock = &top->session->clock;
    int64_t next_us = clock_monotonic_us(clock);
    enum screen_key key = SCREEN_NO_KEY;

    while (key != SCREEN_QUIT) {
        int64_t left_us = next_us - clock_monotonic_us(clock);

        if (left_us <= 0) {
            look(top);
            next_us = clock_monotonic_us(clock) + ROUND_MS * US_PER_MS;
            left_us = ROUND_MS * US_PER_MS;
        }
        draw(top);
        key = top->library->key(top->screen, (int)(left_us / US_PER_MS) + 1);
        top->first += key == SCREEN_DOWN;
        top->first -= key == SCREEN_UP && top->first > 0;
    }
}

static bool show_top(const struct invocation *invocation, struct session *session,
                     enum exit_code *code, struct error *err)
{
    struct top top = { .session = session, .retry = { .store = session->store } };
    const struct screen_settings settings = { .color = !invocation_flag(invocation, "no-color") &&
                                                       getenv("NO_COLOR") == NULL };

    (void)code;
    if (isatty(STDIN_FILENO) == 0 || isatty(STDOUT_FILENO) == 0)
        return command_misused(err, "patra top needs a terminal; patra status prints the same, and "
                                    "with --json for programs");
    top.library = module_load("curses", err);
    if (top.library == NULL || !top.library->open(&top.screen, &settings, err))
        return false;
    arena_init(&top.arena, ROUND_BYTES_MAX);
    run(&top);
    top.library->close(top.screen);
    arena_release(&top.arena);
    return true;
}

static enum exit_code cmd_top(const struct invocation *invocation)
{
    return session_run(invocation, show_top);
}

const struct command COMMAND_TOP = {
    .name = "top",
    .summary = "watch the state of everything in a terminal",
    .operands_max = 0,
    .description =
        "Shows in a terminal, and again every two seconds: what needs a person; for each source\n"
        "its records, its queue, what is missing, how far its harvest is behind and when its\n"
        "schedule fires next; the tasks under way; the rate gates; the stream of events and who\n"
        "reads it. The arrows (or j and k) scroll, q ends. Nothing is changed.",
    .options = { { "no-color", NULL, "Use no colours; so does a variable NO_COLOR." },
                 SESSION_OPTION },
    .run = cmd_top,
};
