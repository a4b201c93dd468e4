/* body_packer: responses as the archive keeps them, and payloads of records: small, each by itself,
 * with a dictionary of what those of an endpoint have in common.
 *
 * Threads: one at a time. A packer keeps the dictionary it used last, ready for use.
 */
#ifndef PATRA_PORT_BODY_PACKER_H
#define PATRA_PORT_BODY_PACKER_H

#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"

struct body_dictionary {
    int64_t id;       /* by which the packer knows it; 0: none */
    struct str bytes; /* must outlive the call only; not looked at where the packer did the same
                         with this dictionary last */
};

struct body_packer { /* embed it as the first member */
    bool (*pack)(struct body_packer *packer, struct arena *arena,
                 const struct body_dictionary *dictionary, struct str bytes, struct str *packed,
                 struct error *err);
    bool (*unpack)(struct body_packer *packer, struct arena *arena,
                   const struct body_dictionary *dictionary, struct str packed, struct str *bytes,
                   struct error *err);
    bool (*train)(struct body_packer *packer, struct arena *arena, const struct str *samples,
                  size_t count, struct str *dictionary, struct error *err);
    void (*close)(struct body_packer *packer);
};

static inline bool MUST_CHECK body_pack(struct body_packer *packer, struct arena *arena,
                                        const struct body_dictionary *dictionary, struct str bytes,
                                        struct str *packed, struct error *err)
{
    return packer->pack(packer, arena, dictionary, bytes, packed, err);
}

/* "pack.broken" (L4) for bytes that were not packed so, or not with this dictionary, or that have
 * changed since. */
static inline bool MUST_CHECK body_unpack(struct body_packer *packer, struct arena *arena,
                                          const struct body_dictionary *dictionary,
                                          struct str packed, struct str *bytes, struct error *err)
{
    return packer->unpack(packer, arena, dictionary, packed, bytes, err);
}

static inline bool body_error_is_broken(const struct error *err)
{
    return strcmp(err->code, "pack.broken") == 0;
}

/* What the samples have in common; empty where that is too little to be of use. */
static inline bool MUST_CHECK body_train(struct body_packer *packer, struct arena *arena,
                                         const struct str *samples, size_t count,
                                         struct str *dictionary, struct error *err)
{
    return packer->train(packer, arena, samples, count, dictionary, err);
}

static inline void body_packer_close(struct body_packer *packer) /* accepts NULL */
{
    if (packer != NULL)
        packer->close(packer);
}

#endif
