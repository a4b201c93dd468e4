/* listening: the HTTP API of this process: its options, the server (patra-http.so), its end. */
#ifndef PATRA_WORKER_LISTENING_H
#define PATRA_WORKER_LISTENING_H

#include "base/log.h"
#include "base/meter.h"
#include "cli/session.h"

/* Where the role api listens unless --listen says otherwise. */
#define LISTENING_DEFAULT "127.0.0.1:8470"

#define LISTENING_OPTIONS                                                                          \
    { "listen", "ADDR:PORT", "Answer HTTP here (role api: " LISTENING_DEFAULT "; else not)." },    \
        { "tls-cert", "FILE", "The certificate chain, PEM: answer by TLS." },                      \
        { "tls-key", "FILE", "Its key, PEM." },                                                    \
        { "insecure-listen", NULL, "Listen on another address than loopback without TLS." },       \
    {                                                                                              \
        "require-token", NULL, "Ask for a token on loopback, too: where a proxy stands before it." \
    }

struct listening_settings {
    bool is_on;
    bool is_watched_only; /* health and metrics: the process does not have the role api */
    char address[64];
    int port;
    const char *certificate; /* a path; NULL: none */
    const char *key;
    bool needs_token;
};

/* `has_role`: the process has the role api. A misuse (COMMAND_OPTION) where TLS is missing. */
bool listening_read(const struct invocation *invocation, bool has_role,
                    struct listening_settings *settings, struct error *err) MUST_CHECK;

struct listening;

struct listening_parts {
    struct session *session; /* must outlive it, as the rest */
    struct log *log;
    struct meters *meters;
};

/* *listening is NULL where the settings are not on. */
bool listening_start(struct listening **listening, const struct listening_settings *settings,
                     const struct listening_parts *parts, struct error *err) MUST_CHECK;
void listening_stop(struct listening *listening); /* accepts NULL */

#endif
