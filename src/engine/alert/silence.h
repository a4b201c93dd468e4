/* silence: whether nobody is to be notified of an alert. */
#ifndef PATRA_ENGINE_ALERT_SILENCE_H
#define PATRA_ENGINE_ALERT_SILENCE_H

#include "port/store_alert.h"

/* `silences` are those in force. */
bool alert_is_silenced(const struct alert *alert, const struct alert_silence_list *silences);

#endif
