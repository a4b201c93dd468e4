/* Progress on a terminal, as lines, or as JSON. */
#include "worker/display.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "data/json_write.h"

/* A block, a line or an event. */
#define TEXT_BYTES_MAX ((size_t)64 << 10)

#define PAINT_US (US_PER_SECOND / 5)
#define LINE_US (5 * US_PER_SECOND)

enum { WIDTH_DEFAULT = 80 };

struct watch {
    struct executor_watch watch; /* first */
    struct display *display;
    int64_t worker;
};

struct display {
    pthread_mutex_t lock; /* of everything below */
    struct display_settings settings;
    struct progress progress;
    struct progress_style style;
    struct arena arena; /* of one text */
    int lines;          /* of the block now on the terminal */
    int64_t shown_us;
    struct watch watches[PROGRESS_WORKERS_MAX];
};

/* ---- the terminal ---- */

static bool is_terminal(FILE *file)
{
    const char *term = getenv("TERM");

    return isatty(fileno(file)) && term != NULL && term[0] != '\0' && strcmp(term, "dumb") != 0;
}

static bool is_utf8_locale(void)
{
    const char *names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *value = getenv(names[i]);

        if (value != NULL && value[0] != '\0')
            return strstr(value, "UTF-8") != NULL || strstr(value, "utf8") != NULL;
    }
    return false;
}

static int width_of(FILE *file)
{
    struct winsize size;

    if (ioctl(fileno(file), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return WIDTH_DEFAULT;
}

/* ---- painting; the lock is held ---- */

static struct buf text_begin(struct display *display)
{
    struct buf text;

    arena_reset(&display->arena);
    buf_init(&text, &display->arena, TEXT_BYTES_MAX);
    return text;
}

/* A text that did not fit is skipped; the next one is shown. An empty one has no memory to write
 * from. */
static void put(const struct buf *text, FILE *file)
{
    struct error err;

    if (!buf_ok(text, &err) || text->len == 0)
        return;
    (void)fwrite(text->data, 1, text->len, file);
    (void)fflush(file);
}

/* Moves to the block's first line and erases from there. */
static void erase(struct display *display, struct buf *text)
{
    if (display->lines > 0)
        buf_printf(text, "\x1b[%dA\r\x1b[J", display->lines);
    display->lines = 0;
}

static void paint(struct display *display, int64_t now_us)
{
    const struct progress_view view = progress_view(&display->progress, now_us);
    struct buf text = text_begin(display);

    display->style.width = width_of(display->settings.talk);
    erase(display, &text);
    {
        const size_t before = text.len;

        progress_block(&view, display->settings.title, &display->style, &text);
        for (size_t i = before; i < text.len; i++)
            display->lines += text.data[i] == '\n';
    }
    put(&text, display->settings.talk);
}

static void write_line(struct display *display, int64_t now_us)
{
    const struct progress_view view = progress_view(&display->progress, now_us);
    struct buf text = text_begin(display);

    progress_line(&view, display->settings.title, &text);
    buf_add_char(&text, '\n');
    put(&text, display->settings.talk);
}

static void say(struct display *display, struct str line)
{
    struct buf text = text_begin(display);

    erase(display, &text);
    buf_add(&text, line);
    buf_add_char(&text, '\n');
    put(&text, display->settings.talk);
}

/* ---- JSON; the lock is held ---- */

static void json_begin(struct json_writer *w, struct buf *text, const char *event, int64_t now_us)
{
    json_writer_init(w, text);
    json_write_object(w);
    json_write_member_str(w, STR("event"), str_of(event));
    json_write_member_instant(w, STR("ts"), now_us);
}

static void json_end(struct display *display, struct json_writer *w, struct buf *text)
{
    json_write_end(w);
    json_writer_finish(w);
    buf_add_char(text, '\n');
    put(text, display->settings.out);
}

static void json_wait(struct json_writer *w, const struct progress_wait *wait)
{
    if (wait->until_us > 0)
        json_write_member_instant(w, STR("waitingUntil"), wait->until_us);
    json_write_member_str(w, STR("waitingReason"), code_of(&WAIT_REASON_CODES, (int)wait->reason));
}

static void json_progress(struct display *display, int64_t now_us)
{
    const struct progress_view view = progress_view(&display->progress, now_us);
    struct buf text = text_begin(display);
    struct json_writer w;

    json_begin(&w, &text, "progress", now_us);
    json_write_member_i64(&w, STR("slices"), view.slices);
    json_write_member_i64(&w, STR("slicesEnded"), view.slices_ended);
    json_write_member_i64(&w, STR("permille"), view.permille);
    json_write_member_i64(&w, STR("records"), view.records);
    json_write_member_i64(&w, STR("requests"), view.sums.requests);
    json_write_member_i64(&w, STR("working"), view.working);
    json_write_member_i64(&w, STR("waiting"), view.waiting);
    if (view.waiting > 0)
        json_wait(&w, &view.wait);
    else if (view.is_resting)
        json_wait(&w, &view.rest);
    if (view.eta.is_known) {
        json_write_member_i64(&w, STR("etaSecondsLeast"), view.eta.least_us / US_PER_SECOND);
        json_write_member_i64(&w, STR("etaSecondsMost"), view.eta.most_us / US_PER_SECOND);
    }
    json_end(display, &w, &text);
}

static void json_task(struct json_writer *w, const struct executor_event *event)
{
    if (event->task == NULL)
        return;
    json_write_member_i64(w, STR("task"), event->task->id);
    json_write_member_i64(w, STR("run"), event->run_id);
    if (!window_is_valid(event->task->window))
        return;
    json_write_member_instant(w, STR("from"), event->task->window.from_us);
    json_write_member_instant(w, STR("to"), event->task->window.to_us);
}

static void json_batch(struct json_writer *w, const struct executor_event *event)
{
    if (event->batch != NULL) {
        json_write_member_i64(w, STR("batch"), event->batch->batch_no);
        json_write_member_i64(w, STR("requests"), event->batch->counts.requests);
        json_write_member_i64(w, STR("bytes"), event->batch->counts.bytes);
    }
    if (event->commit == NULL)
        return;
    json_write_member_i64(w, STR("created"), event->commit->created);
    json_write_member_i64(w, STR("updated"), event->commit->updated);
    json_write_member_i64(w, STR("changedSameDate"), event->commit->same_date);
    json_write_member_i64(w, STR("futureDates"), event->commit->future);
    json_write_member_i64(w, STR("unchanged"), event->commit->unchanged + event->commit->older);
    json_write_member_i64(w, STR("deleted"), event->commit->deleted);
    json_write_member_i64(w, STR("quarantined"), event->commit->quarantined);
}

static void json_ending(struct json_writer *w, const struct ending *ending)
{
    if (ending == NULL)
        return;
    json_write_member_str(w, STR("status"),
                          ending->kind == ENDING_FINAL
                              ? code_of(&TASK_STATUS_CODES, (int)ending->status)
                          : ending->kind == ENDING_LATER ? STR("QUEUED")
                                                         : STR("OVERTAKEN"));
    if (ending->has_reason)
        json_write_member_str(w, STR("reason"),
                              code_of(&PARTIAL_REASON_CODES, (int)ending->reason));
    if (ending->kind == ENDING_LATER) {
        json_write_member_instant(w, STR("until"), ending->retry_at_us);
        json_write_member_str(w, STR("reason"),
                              code_of(&WAIT_REASON_CODES, (int)ending->retry_reason));
    }
    if (ending->text[0] != '\0')
        json_write_member_str(w, STR("text"), str_of(ending->text));
}

static void json_event(struct display *display, const struct executor_event *event)
{
    static const char *const names[] = {
        [EXECUTOR_STARTED] = "task_started", [EXECUTOR_WAITING] = "waiting",
        [EXECUTOR_BATCH] = "batch",          [EXECUTOR_ENDED] = "task_ended",
        [EXECUTOR_TROUBLE] = "trouble",
    };
    struct buf text = text_begin(display);
    struct json_writer w;

    if (event->kind == EXECUTOR_IDLE || event->kind == EXECUTOR_CURSOR) /* its summary has it */
        return;
    json_begin(&w, &text, names[event->kind], event->now_us);
    json_task(&w, event);
    if (event->kind == EXECUTOR_WAITING) {
        if (event->until_us > 0)
            json_write_member_instant(&w, STR("until"), event->until_us);
        json_write_member_str(&w, STR("reason"), code_of(&WAIT_REASON_CODES, (int)event->reason));
    }
    if (event->kind == EXECUTOR_BATCH)
        json_batch(&w, event);
    if (event->kind == EXECUTOR_ENDED)
        json_ending(&w, event->ending);
    if (event->err != NULL) {
        json_write_member_str(&w, STR("code"), str_of(event->err->code));
        json_write_member_str(&w, STR("text"), str_of(event->err->text));
    }
    json_end(display, &w, &text);
}

/* ---- events ---- */

/* A task put off for a permit, a pause or a stop is not a problem, and there may be many. */
static bool is_problem(const struct ending *ending)
{
    return ending != NULL && ending->text[0] != '\0' &&
           (ending->kind == ENDING_LATER
                ? ending->is_outage
                : ending->kind == ENDING_FINAL && ending->status != TASK_SUCCEEDED);
}

/* "2026-01-02T00:00:00Z .. 2026-01-03T00:00:00Z: PARTIAL, will be re-sliced: 412 of 415". */
static void say_ending(struct display *display, const struct executor_event *event)
{
    const struct ending *ending = event->ending;
    char from[INSTANT_TEXT_MAX], to[INSTANT_TEXT_MAX], line[1024];
    int len;

    if (window_is_valid(event->task->window)) {
        (void)instant_format(event->task->window.from_us, from);
        (void)instant_format(event->task->window.to_us, to);
        len = snprintf(line, sizeof(line), "%s .. %s", from, to);
    } else {
        len = snprintf(line, sizeof(line), "task %lld", (long long)event->task->id);
    }
    len += snprintf(line + len, sizeof(line) - (size_t)len, ": %.*s%s: %s",
                    STR_ARG(ending->kind == ENDING_FINAL
                                ? code_of(&TASK_STATUS_CODES, (int)ending->status)
                                : STR("put off")),
                    ending->needs_reslice ? ", will be re-sliced" : "", ending->text);
    say(display, (struct str){ line, (size_t)len < sizeof(line) ? (size_t)len : sizeof(line) - 1 });
}

static void see(struct executor_watch *watch, const struct executor_event *event)
{
    const struct watch *mine = (const struct watch *)watch;
    struct display *display = mine->display;

    (void)pthread_mutex_lock(&display->lock);
    progress_see(&display->progress, mine->worker, event);
    switch (display->settings.mode) {
    case DISPLAY_QUIET:
        break;
    case DISPLAY_JSON:
        json_event(display, event);
        break;
    case DISPLAY_LINES:
    case DISPLAY_BLOCK:
        if (event->kind == EXECUTOR_ENDED && is_problem(event->ending))
            say_ending(display, event);
        break;
    }
    (void)pthread_mutex_unlock(&display->lock);
}

struct executor_watch *display_watch(struct display *display, int64_t worker)
{
    return &display->watches[worker].watch;
}

void display_slices(struct display *display, int64_t total, int64_t ended)
{
    (void)pthread_mutex_lock(&display->lock);
    progress_slices(&display->progress, total, ended);
    (void)pthread_mutex_unlock(&display->lock);
}

void display_allowed(struct display *display, int64_t per_1000s)
{
    (void)pthread_mutex_lock(&display->lock);
    progress_allowed(&display->progress, per_1000s);
    (void)pthread_mutex_unlock(&display->lock);
}

static void json_say(struct display *display, const char *event, struct str line, int64_t now_us)
{
    struct buf text = text_begin(display);
    struct json_writer w;

    json_begin(&w, &text, event, now_us);
    json_write_member_str(&w, STR("text"), line);
    json_end(display, &w, &text);
}

void display_say(struct display *display, const char *event, struct str line, int64_t now_us)
{
    (void)pthread_mutex_lock(&display->lock);
    if (display->settings.mode == DISPLAY_JSON)
        json_say(display, event, line, now_us);
    else if (display->settings.mode != DISPLAY_QUIET)
        say(display, line);
    (void)pthread_mutex_unlock(&display->lock);
}

void display_tick(struct display *display, int64_t now_us)
{
    const bool is_block = display->settings.mode == DISPLAY_BLOCK;

    (void)pthread_mutex_lock(&display->lock);
    progress_tick(&display->progress, now_us);
    if (now_us - display->shown_us >= (is_block ? PAINT_US : LINE_US) &&
        display->settings.mode != DISPLAY_QUIET) {
        display->shown_us = now_us;
        if (is_block)
            paint(display, now_us);
        else if (display->settings.mode == DISPLAY_JSON)
            json_progress(display, now_us);
        else
            write_line(display, now_us);
    }
    (void)pthread_mutex_unlock(&display->lock);
}

struct progress_view display_view(struct display *display, int64_t now_us)
{
    struct progress_view view;

    (void)pthread_mutex_lock(&display->lock);
    view = progress_view(&display->progress, now_us);
    (void)pthread_mutex_unlock(&display->lock);
    return view;
}

/* ---- opening and closing ---- */

bool display_open(struct display **out, const struct display_settings *settings, struct error *err)
{
    struct display *display = calloc(1, sizeof(*display));

    *out = display;
    if (display == NULL || pthread_mutex_init(&display->lock, NULL) != 0) {
        free(display);
        *out = NULL;
        return error_set(err, ERROR_TRANSIENT, "memory.system", "no memory for a display");
    }
    display->settings = *settings;
    display->shown_us = settings->now_us;
    if (settings->mode == DISPLAY_LINES && is_terminal(settings->talk)) {
        display->settings.mode = DISPLAY_BLOCK;
        display->shown_us -= PAINT_US; /* it is there from the beginning */
    }
    display->style =
        (struct progress_style){ .color = getenv("NO_COLOR") == NULL, .unicode = is_utf8_locale() };
    arena_init(&display->arena, 4 * TEXT_BYTES_MAX);
    progress_init(&display->progress, settings->worker_count, settings->now_us);
    for (int64_t i = 0; i < settings->worker_count; i++)
        display->watches[i] = (struct watch){ { see }, display, i };
    return true;
}

void display_close(struct display *display)
{
    struct buf text;

    if (display == NULL)
        return;
    text = text_begin(display);
    erase(display, &text);
    put(&text, display->settings.talk);
    arena_release(&display->arena);
    (void)pthread_mutex_destroy(&display->lock);
    free(display);
}
