/* import_spec: the words of the files of foreign outboxes. */
#include "core/import_spec.h"

static const struct code_item PAYLOAD_ITEMS[] = {
    [IMPORT_PAYLOAD_JSON] = CODE_ITEM("JSON", "JSON; a row with another payload is refused"),
    [IMPORT_PAYLOAD_BYTES] = CODE_ITEM("BYTES", "any bytes, such as Protobuf"),
};
const struct code_table IMPORT_PAYLOAD_CODES =
    CODE_TABLE("import_payload", "what the payloads of a foreign outbox are", PAYLOAD_ITEMS);

static const struct code_item LATE_ITEMS[] = {
    [IMPORT_LATE_REFUSE] = CODE_ITEM("REFUSE", "is not imported, and told"),
    [IMPORT_LATE_TAKE] = CODE_ITEM("TAKE", "is imported after the higher one"),
};
const struct code_table IMPORT_LATE_CODES = CODE_TABLE(
    "import_late", "what becomes of a version that comes after a higher one", LATE_ITEMS);
