/* nats_server: real NATS servers for a test program, one or a cluster, in folders below the test's
 * own, on free ports of 127.0.0.1. They end with the test program. */
#ifndef PATRA_TEST_SUPPORT_NATS_SERVER_H
#define PATRA_TEST_SUPPORT_NATS_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

enum { NATS_NODES_MAX = 3 };

#define NATS_USER "patra"
#define NATS_PASSWORD "s3cret-of-nats"

struct nats_node {
    pid_t pid; /* 0: it does not run */
    int port;
    int cluster_port;
    int http_port; /* tells how it is */
    char folder[256];
};

struct nats_servers {
    struct nats_node nodes[NATS_NODES_MAX];
    int count;
    char more[8192]; /* lines for each configuration: tls { ... }, authorization { ... } */
};

/* False where nats-server is not installed. */
bool nats_servers_installed(void);

/* Makes the folders and starts all of them. `more` may be NULL; without an authorization of its
 * own, NATS_USER is let in. */
void nats_servers_start(struct nats_servers *servers, int count, const char *more);
void nats_servers_stop(struct nats_servers *servers); /* for good */

/* As by a crash, and again on the same data. */
void nats_node_kill(struct nats_servers *servers, int node);
void nats_node_start(struct nats_servers *servers, int node);

/* Until it has everything that the others of its cluster have: only then may another one go. */
bool nats_node_await(const struct nats_servers *servers, int node);

/* SIGSTOP and SIGCONT. */
void nats_node_freeze(struct nats_servers *servers, int node, bool frozen);

#endif
