/* retain_find: one batch in a file that retention wrote.
 *
 *      retain_find_init(&find, arena, &file, run_id, number);
 *      ok = ... the file, unpacked, written to &find.sink, and ended ...
 *      if (ok && find.has_batch) ...
 *      byte_sink_close(&find.sink);
 *
 * One line is in memory. The end compares the lines with the hash that was noted when they were
 * written: "retain.changed" (L2) says that somebody has changed the file since.
 */
#ifndef PATRA_ENGINE_RETAIN_FIND_H
#define PATRA_ENGINE_RETAIN_FIND_H

#include "base/buf.h"
#include "data/hash.h"
#include "port/byte_sink.h"
#include "port/store_prune.h"
#include "port/store_run.h"

struct retain_find {
    struct byte_sink sink; /* first */
    struct arena *arena;   /* of what is found */
    struct str path;       /* of the file, for errors */
    struct str sha256;
    int64_t run_id;
    int64_t number; /* 0: the run's last one that failed, or else its last one */
    struct arena lines;
    struct arena scratch; /* of one line that may be it */
    struct buf line;
    struct hash hash;
    bool has_batch;
    struct batch batch; /* page and tokens are not in the file; its evidence is the body's hash */
};

void retain_find_init(struct retain_find *find, struct arena *arena,
                      const struct retained_file *file, int64_t run_id, int64_t number);

#endif
