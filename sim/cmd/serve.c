/* `patra-sim serve`: opens the handler and the server, prints where it listens, waits for the end.
 */
#include "sim/cmd/serve.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/instant.h"
#include "sim/cmd/serve_options.h"
#include "sim/http/tls.h"
#include "sim/protocol/body.h"
#include "sim/server/handler.h"
#include "sim/server/server.h"

enum { FILE_BYTES_MAX = 1 << 20 };

static bool read_file(struct arena *arena, const char *path, struct str *text, struct error *err)
{
    FILE *file = fopen(path, "rb");
    char *bytes = arena_alloc(arena, FILE_BYTES_MAX);

    if (file == NULL || bytes == NULL) {
        if (file != NULL)
            (void)fclose(file);
        return error_set(err, ERROR_REQUEST, "file.open", "%s: cannot be read", path);
    }
    *text = (struct str){ bytes, fread(bytes, 1, FILE_BYTES_MAX, file) };
    (void)fclose(file);
    return true;
}

static bool add_faults(struct handler *handler, struct arena *arena,
                       const struct serve_options *options, struct error *err)
{
    struct str text = STR("");

    for (size_t i = 0; i < options->faults.count; i++) {
        if (!fault_plan_add(handler->faults, str_of(options->faults.items[i]), err))
            return error_wrap(err, "--fault");
    }
    if (options->fault_file == NULL)
        return true;
    return read_file(arena, options->fault_file, &text, err) &&
           (fault_plan_add(handler->faults, text, err) ||
            error_wrap(err, "%s", options->fault_file));
}

static bool add_auths(struct handler *handler, const struct serve_options *options,
                      struct error *err)
{
    if (!auth_open(&handler->auth, err))
        return false;
    for (size_t i = 0; i < options->auths.count; i++) {
        if (!auth_add(handler->auth, str_of(options->auths.items[i]), err))
            return error_wrap(err, "--auth");
    }
    return true;
}

static bool open_audit(struct handler *handler, const struct serve_options *options,
                       struct error *err)
{
    struct audit_options how = {
        .virtual_time = options->audit_time == 1,
        .grace_us = options->retry_grace_us,
        .repeat_window_us = options->repeat_window_us,
        .repeats = options->repeats,
        .bytes_max = (size_t)options->audit_mb << 20,
    };

    for (struct str rest = str_of(options->audit_off); rest.len > 0;) {
        const struct str name = str_cut(&rest, ',');
        const int rule = audit_rule_named(name);

        if (rule < 0)
            return error_set(err, ERROR_REQUEST, "audit.rule", "--audit-off: unknown rule '%.*s'",
                             STR_ARG(name));
        how.off[rule] = true;
    }
    if (!audit_open(&how, &handler->audit, err))
        return false;
    for (size_t i = 0; i < options->limits.count; i++) {
        if (!audit_add_limit(handler->audit, str_of(options->limits.items[i]), err))
            return error_wrap(err, "--limit");
    }
    return true;
}

static bool handler_open(struct handler *handler, struct arena *arena,
                         const struct serve_options *options, struct error *err)
{
    sim_clock_init(&handler->clock, options->now_us, options->clock_rate);
    handler->response = (struct response_options){ .gzip_level = (int)options->gzip_level,
                                                   .frame = (enum response_frame)options->frame,
                                                   .stall_max_us = options->stall_max_us };
    handler->world = body_world_open(&options->world, err);
    return handler->world != NULL &&
           fault_plan_open((uint64_t)options->fault_seed, &handler->faults, err) &&
           echo_blob_open(&handler->echo, err) && add_auths(handler, options, err) &&
           open_audit(handler, options, err) && add_faults(handler, arena, options, err);
}

static void handler_close(struct handler *handler)
{
    fault_plan_close(handler->faults);
    audit_close(handler->audit);
    auth_close(handler->auth);
    echo_blob_close(&handler->echo);
    world_close(handler->world);
    sim_clock_release(&handler->clock);
}

/* "listening http://127.0.0.1:1 https://127.0.0.1:2 other=http://127.0.0.1:3" */
static struct str describe(struct arena *arena, const struct serve_options *options,
                           const struct server *server, const struct handler *handler)
{
    struct buf line;

    buf_init(&line, arena, 1024);
    buf_add(&line, STR("listening"));
    if (server_port(server, LISTENER_HTTP) >= 0)
        buf_printf(&line, " http://%s:%d", options->listen, server_port(server, LISTENER_HTTP));
    if (server_port(server, LISTENER_HTTPS) >= 0)
        buf_printf(&line, " https://%s:%d", options->listen, server_port(server, LISTENER_HTTPS));
    if (handler->other_base.len > 0)
        buf_printf(&line, " other=%.*s", STR_ARG(handler->other_base));
    buf_add_char(&line, '\n');
    return buf_str(&line);
}

/* Written to a temporary file and renamed, so that a reader never sees half a line. */
static bool write_ready_file(struct arena *arena, const char *path, struct str line,
                             struct error *err)
{
    const struct str part = arena_printf(arena, "%s.part", path);
    FILE *file = part.data != NULL ? fopen(part.data, "wb") : NULL;

    if (file == NULL)
        return error_set(err, ERROR_REQUEST, "ready.file", "%s: cannot be written", path);
    (void)fwrite(line.data, 1, line.len, file);
    if (fclose(file) != 0 || rename(part.data, path) != 0)
        return error_set(err, ERROR_REQUEST, "ready.file", "%s: cannot be written", path);
    return true;
}

static bool print_listening(struct arena *arena, const struct serve_options *options,
                            const struct server *server, const struct handler *handler,
                            struct error *err)
{
    const struct str line = describe(arena, options, server, handler);

    (void)fwrite(line.data, 1, line.len, stdout);
    (void)fflush(stdout);
    return options->ready_file == NULL || write_ready_file(arena, options->ready_file, line, err);
}

static bool open_tls(struct arena *arena, const struct serve_options *options, SSL_CTX **tls,
                     struct error *err)
{
    const char *cert = options->tls_cert, *key = options->tls_key;

    if (cert == NULL && options->tls_folder == NULL)
        return true;
    if (cert == NULL) {
        if (!tls_make_files(options->tls_folder, options->listen, err))
            return error_wrap(err, "--tls");
        cert = arena_printf(arena, "%s/server.pem", options->tls_folder).data;
        key = arena_printf(arena, "%s/server.key", options->tls_folder).data;
    }
    if (cert == NULL || key == NULL)
        return error_set(err, ERROR_REQUEST, "tls.key",
                         "--tls-cert and --tls-key must be given together");
    return tls_open(cert, key, tls, err);
}

/* Waits for a signal in `stop` or, with --until-eof, for the end of standard input. */
static bool wait_for_end(const sigset_t *stop, bool until_eof, struct error *err)
{
    const int signals = signalfd(-1, stop, SFD_CLOEXEC);
    struct pollfd fds[2] = { { signals, POLLIN, 0 }, { until_eof ? STDIN_FILENO : -1, POLLIN, 0 } };
    char drop[256];

    if (signals < 0)
        return error_set(err, ERROR_TRANSIENT, "signalfd", "%s", strerror(errno));
    do
        (void)poll(fds, 2, -1);
    while (fds[0].revents == 0 &&
           (fds[1].revents == 0 || read(STDIN_FILENO, drop, sizeof(drop)) > 0));
    (void)close(signals);
    return true;
}

static bool run(struct handler *handler, struct arena *arena, const struct serve_options *options,
                const sigset_t *stop, struct error *err)
{
    struct server_options listeners = {
        .address = options->listen,
        .other_address = options->other_listen,
        .ports = { (int)options->port, -1, (int)options->other_port },
    };
    struct server *server = NULL;
    bool ok;

    if (!open_tls(arena, options, &listeners.tls, err))
        return false;
    if (listeners.tls != NULL)
        listeners.ports[LISTENER_HTTPS] = (int)options->tls_port;
    ok = server_open(&listeners, handler, &server, err) && server_start(server, err) &&
         print_listening(arena, options, server, handler, err);
    ok = ok && wait_for_end(stop, options->until_eof, err);
    server_close(server);
    SSL_CTX_free(listeners.tls);
    return ok;
}

int serve_main(int argc, char **argv)
{
    struct serve_options options;
    struct handler handler = { 0 };
    struct arena arena;
    struct error err;
    sigset_t stop;
    bool ok;

    if (!serve_options_parse(&options, argc, argv, &err)) {
        (void)fprintf(stderr, "patra-sim serve: %s (try --help)\n", err.text);
        return 2;
    }
    arena_init(&arena, 64 << 20);
    if (options.help) {
        ok = serve_options_help(stdout, &arena);
        arena_release(&arena);
        return ok ? 0 : 1;
    }
    /* Blocked before any thread starts, so that only wait_for_end() receives them. */
    (void)sigemptyset(&stop);
    (void)sigaddset(&stop, SIGTERM);
    (void)sigaddset(&stop, SIGINT);
    (void)pthread_sigmask(SIG_BLOCK, &stop, NULL);
    ok = handler_open(&handler, &arena, &options, &err) &&
         run(&handler, &arena, &options, &stop, &err);
    if (!ok)
        (void)fprintf(stderr, "patra-sim serve: %s\n", err.text);
    handler_close(&handler);
    arena_release(&arena);
    return ok ? 0 : 1;
}
