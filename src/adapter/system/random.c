/* Random numbers of the system. */
#include <assert.h>
#include <errno.h>
#include <sys/random.h>

#include "adapter/system/system.h"

static void bytes(struct random_source *source, unsigned char *out, size_t count)
{
    (void)source;
    while (count > 0) {
        const ssize_t got = getrandom(out, count, 0);

        assert(got > 0 || errno == EINTR); /* since Linux 3.17 it cannot fail */
        if (got > 0) {
            out += got;
            count -= (size_t)got;
        }
    }
}

struct random_source system_random(void)
{
    return (struct random_source){ bytes };
}
