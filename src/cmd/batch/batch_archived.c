/* Looks through the files of retention. */
#include "cmd/batch/batch_archived.h"

#include <inttypes.h>

#include "adapter/file/file_in.h"
#include "adapter/pack/pack.h"
#include "engine/retain/find.h"

/* False: the file cannot be read, or is not as it was written. */
static bool look(const struct view_reader *reader, const struct retained_file *file,
                 const struct view_batch_key *key, struct batch *row, bool *found,
                 struct error *err)
{
    struct retain_find find;
    struct byte_sink *sink;
    struct str rest;
    bool ok;

    *found = false;
    retain_find_init(&find, reader->arena, file, key->run_id, key->number);
    if (!unpack_open(pack_of(file->path, &rest), &find.sink, &sink, err)) {
        byte_sink_close(&find.sink);
        return false;
    }
    ok = file_in_pour(file->path.data, sink, err);
    *found = ok && find.has_batch;
    *row = find.batch;
    byte_sink_close(sink);
    return ok;
}

bool batch_archived(const struct view_reader *reader, const struct view_batch_key *key,
                    struct view_batch *view, struct error *err)
{
    struct retained_file_list files;
    struct error unread = { 0 };
    struct batch row;
    bool found;

    if (!store_prune_files_of(reader->store, reader->arena, key->run_id, &files, err))
        return false;
    for (size_t i = 0; i < files.count; i++) {
        struct error failed;

        if (!look(reader, &files.items[i], key, &row, &found, &failed))
            unread = failed; /* another file may have it */
        else if (found)
            return view_batch_archived(reader, &row, files.items[i].path, view, err);
    }
    if (unread.level == ERROR_NONE)
        return error_set(err, ERROR_REQUEST, "batch.unknown",
                         "run %" PRId64 " has no such batch, neither in the store nor in its "
                         "archive",
                         key->run_id);
    (void)view_batch_missing(reader, key, err);
    return error_wrap(err, "%s", unread.text);
}
