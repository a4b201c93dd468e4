/* The clock as people and programs see it. */
#include "view/clock.h"

#include "base/text.h"

struct str view_clock_word(enum clock_jump jump)
{
    return jump == CLOCK_AHEAD    ? STR("ahead")
           : jump == CLOCK_BEHIND ? STR("behind")
                                  : STR("steady");
}

struct str view_clock_need(struct arena *arena, const struct store_time *time)
{
    struct error err;

    switch (time->jump) {
    case CLOCK_STEADY:
        return STR("");
    case CLOCK_AHEAD:
        return arena_printf(arena,
                            "this host's clock was set ahead by %.*s. patra goes on by the time "
                            "before that, so that no cursor passes the present. Set the clock "
                            "right, or, if it is right now, run: patra clock accept",
                            STR_ARG(text_span_in(arena, time->by_us)));
    case CLOCK_BEHIND:
        break;
    }
    (void)store_time_refuse(time, &err);
    return arena_printf(arena, "nothing is planned or fetched: %s", err.text);
}

void view_clock_write(struct json_writer *w, const struct store_time *time)
{
    json_write_object(w);
    json_write_member_str(w, STR("state"), view_clock_word(time->jump));
    json_write_member_instant(w, STR("clock"), time->calendar_us);
    json_write_member_instant(w, STR("now"), time->now_us);
    if (time->seen_us != 0)
        json_write_member_instant(w, STR("seen"), time->seen_us);
    if (time->jump != CLOCK_STEADY)
        json_write_member_i64(w, STR("byUs"), time->by_us);
    json_write_end(w);
}
