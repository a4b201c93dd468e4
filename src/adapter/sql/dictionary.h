/* dictionary: the words of core/codes.h and those in sys_dict_item, compared. */
#ifndef PATRA_ADAPTER_SQL_DICTIONARY_H
#define PATRA_ADAPTER_SQL_DICTIONARY_H

#include "port/store.h"

bool sql_words(struct store *store, struct store_words *words, struct error *err);
bool sql_words_restore(struct store *store, int64_t *restored, struct error *err);

#endif
