/* file_bus: a bus that is a file: what arrives is appended, by any number of processes, in one
 * order, and is still there when all of them were killed.
 *
 * A message is a record of FILE_BUS_RECORD bytes, written by one call, so it is there as a whole or
 * not at all: records never cross a page. What is acknowledged was written. By chance a message is
 * refused, or left for later, and a call fails before or after its work.
 */
#ifndef PATRA_TEST_SUPPORT_FILE_BUS_H
#define PATRA_TEST_SUPPORT_FILE_BUS_H

#include "port/bus.h"

enum { FILE_BUS_RECORD = 128 };

struct file_bus_faults { /* of a thousand */
    int refuse;          /* a message */
    int retry;
    int fail_before; /* a call */
    int fail_after;
};

/* NULL: the file cannot be opened. */
struct bus *file_bus_open(const char *path, const struct file_bus_faults *faults, uint64_t seed);

struct file_bus_arrival {
    char event_id[37];
    char key[64];
    long long version;
};

/* Calls it for each, in the order of arrival. Returns how many; -1: not to be read. */
long file_bus_read(const char *path,
                   void (*call)(void *context, const struct file_bus_arrival *arrival),
                   void *context);

#endif
