/* Silences. */
#include "act/silence.h"

#include "core/alert.h"

static bool check_rule(struct str name, struct error *err)
{
    const char *near = alert_rule_near(name);
    enum alert_rule rule;

    return name.len == 0 || alert_rule_find(name, &rule) ||
           error_set(err, ERROR_REQUEST, "alert.silence",
                     "rule: '%.*s' is not a rule%s%s: patra alert rules lists them", STR_ARG(name),
                     near != NULL ? "; did you mean " : "", near != NULL ? near : "");
}

bool act_silence(const struct view_reader *reader, struct alert_silence *silence, int64_t for_us,
                 struct error *err)
{
    if (!check_rule(silence->rule, err))
        return false;
    if (for_us <= 0 || for_us > SILENCE_MAX_US)
        return error_set(err, ERROR_REQUEST, "alert.silence", "for: says how long, up to 90d");
    if (silence->rule.len + silence->source.len + silence->subject.len == 0)
        return error_set(err, ERROR_REQUEST, "alert.silence",
                         "say what is silenced: a rule, a source or a subject");
    silence->created_us = reader->now_us;
    silence->until_us = reader->now_us + for_us;
    return store_alert_silence(reader->store, silence, &silence->id, err);
}
