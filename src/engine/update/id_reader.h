/* id_reader: ids that are handed over one by one, out of a file or a request. An adapter embeds it
 * as its first member. */
#ifndef PATRA_ENGINE_UPDATE_ID_READER_H
#define PATRA_ENGINE_UPDATE_ID_READER_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

struct id_reader {
    /* *id is valid until the next call; *has is false after the last one. */
    bool (*next)(struct id_reader *reader, struct str *id, bool *has, struct error *err);
};

#endif
