/* wait: the words and meanings of the reasons. */
#include "core/wait.h"

static const struct code_item ITEMS[] = {
    [WAIT_RATE] = CODE_ITEM("RATE", "rate"),
    [WAIT_RETRY_AFTER] = CODE_ITEM("RETRY_AFTER", "Retry-After"),
    [WAIT_QUOTA] = CODE_ITEM("QUOTA", "quota"),
    [WAIT_SLOT] = CODE_ITEM("SLOT", "all slots taken"),
    [WAIT_BACKOFF] = CODE_ITEM("BACKOFF", "back-off after a failure"),
    [WAIT_STORE] = CODE_ITEM("STORE", "store out of reach"),
    [WAIT_CIRCUIT] = CODE_ITEM("CIRCUIT", "circuit open"),
    [WAIT_DUE] = CODE_ITEM("DUE", "not due yet"),
};
const struct code_table WAIT_REASON_CODES =
    CODE_TABLE("ing_wait_reason", "why nothing is sent at the moment", ITEMS);
