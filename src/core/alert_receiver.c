/* Who wants which alerts. */
#include "core/alert_receiver.h"

#include "base/attr.h"

static const struct code_item FORMS[] = {
    [ALERT_FORM_WEBHOOK] = CODE_ITEM("WEBHOOK", "a POST of plain JSON"),
    [ALERT_FORM_SLACK] =
        CODE_ITEM("SLACK", "an incoming webhook of Slack, or of what takes its form"),
    [ALERT_FORM_DINGTALK] = CODE_ITEM("DINGTALK", "a robot of DingTalk"),
    [ALERT_FORM_EMAIL] = CODE_ITEM("EMAIL", "a mail by SMTP"),
};
const struct code_table ALERT_FORM_CODES = CODE_TABLE("alert_form", "how an alert is sent", FORMS);

static bool is_among(const struct str *items, size_t count, struct str wanted)
{
    for (size_t i = 0; i < count; i++) {
        if (str_eq(items[i], wanted))
            return true;
    }
    return count == 0;
}

bool alert_receiver_takes(const struct alert_receiver *receiver, enum alert_rule rule,
                          struct str source)
{
    const struct alert_rule_row *row = &ALERT_RULES[rule];

    return row->severity >= receiver->severity &&
           is_among(receiver->rules, receiver->rule_count, str_of(row->name)) &&
           is_among(receiver->sources, receiver->source_count, source);
}
