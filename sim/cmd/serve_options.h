/* serve_options: the options of `patra-sim serve`. One table parses, checks and explains them. */
#ifndef PATRA_SIM_CMD_SERVE_OPTIONS_H
#define PATRA_SIM_CMD_SERVE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/error.h"
#include "sim/world/world_options.h"

enum { SERVE_LIST_MAX = 64 };

struct serve_list { /* of an option that may be given several times */
    const char *items[SERVE_LIST_MAX];
    size_t count;
};

struct serve_options {
    bool help;
    bool until_eof;
    const char *listen;
    const char *other_listen;
    int64_t port;
    int64_t other_port;
    const char *ready_file;
    int64_t now_us; /* default: the end of the world */
    int64_t clock_rate;
    int64_t gzip_level;
    int frame; /* enum response_frame */
    int64_t stall_max_us;
    struct serve_list faults;
    const char *fault_file;
    int64_t fault_seed;
    const char *tls_folder;
    int64_t tls_port;
    const char *tls_cert;
    const char *tls_key;
    struct serve_list auths;
    struct serve_list limits;
    const char *audit_off;
    int audit_time; /* 0 real, 1 virtual */
    int64_t retry_grace_us;
    int64_t repeat_window_us;
    int64_t repeats;
    int64_t audit_mb;
    struct world_options world;
};

/* `argv` is without the program and the subcommand, and must outlive the options. */
bool serve_options_parse(struct serve_options *options, int argc, char **argv,
                         struct error *err) MUST_CHECK;
bool serve_options_help(FILE *out, struct arena *arena);

#endif
