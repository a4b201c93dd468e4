/* serve_options: what `patra-sim serve` can be told, as a table: the same rows parse, check and
 * explain. */
#ifndef PATRA_SIM_SERVE_OPTIONS_H
#define PATRA_SIM_SERVE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/attr.h"
#include "base/error.h"

enum { SERVE_LIST_MAX = 64 };

struct serve_options {
    bool help;
    const char *listen;
    int64_t port;
    int64_t other_port;
    const char *ready_file;
    int64_t now_us;
    int64_t clock_rate;
    int64_t gzip_level;
    int frame; /* enum reply_frame */
    int64_t stall_max_us;
    const char *faults[SERVE_LIST_MAX];
    size_t fault_count;
    const char *fault_file;
    int64_t fault_seed;
};

/* `argv` is without the program and the subcommand, and must outlive the options. */
bool serve_options_parse(struct serve_options *options, int argc, char **argv,
                         struct error *err) MUST_CHECK;
void serve_options_help(FILE *out);

#endif
