/* Reads the name of a batch. */
#include "cmd/batch/batch_key.h"

#include "cli/command.h"

bool batch_key_read(const char *text, struct view_batch_key *key, struct error *err)
{
    const struct str whole = str_of(text);
    const size_t slash = str_find_char(whole, '/');

    *key = (struct view_batch_key){ 0 };
    if (!str_to_i64(str_slice(whole, 0, slash), &key->run_id) || key->run_id <= 0 ||
        (slash < whole.len &&
         (!str_to_i64(str_slice(whole, slash + 1, whole.len), &key->number) || key->number <= 0)))
        return command_misused(err, "'%s' is not a batch: write RUN/NUMBER, or RUN", text);
    return true;
}
