/* file_names: the files of a bulk endpoint, one by one.
 *
 *      articles.ndjson.gz              one file
 *      pubmed26n{0001..1274}.xml.gz    1274 files: pubmed26n0001.xml.gz, pubmed26n0002.xml.gz, ...
 *
 * Numbers are written with as many digits as the first of the range has. A name has one range at
 * most; braces that are no range stay as they are. No list at all is one file without a name: the
 * endpoint's path says which.
 */
#ifndef PATRA_SPEC_FILE_NAMES_H
#define PATRA_SPEC_FILE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

struct file_names { /* where a walk over the names is */
    const struct str *items;
    size_t count;
    size_t at;
    int64_t number; /* within the range of items[at], from 0 */
};

/* False after the last one, or when the arena is full. */
bool file_names_next(struct file_names *names, struct arena *arena, struct str *name);

/* How many there are; INT64_MAX when there are more. */
int64_t file_names_count(const struct str *items, size_t count);

/* True for a range whose end is before its beginning. */
bool file_name_is_empty(struct str item);

#endif
