/* Checks that more than one view needs. */
#include "view/reader.h"

#include "engine/source/source_store.h"

bool view_source_check(const struct view_reader *reader, struct str source, struct error *err)
{
    struct source rows;

    return source.len == 0 ||
           source_load(reader->store, reader->arena, source, reader->now_us, &rows, err);
}
