/* Starting and killing NATS servers. */
#include "nats_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

enum { START_TRIES = 1000, WHOLE_TRIES = 200 };

static const char *program(void)
{
    static const char *const paths[] = { "/usr/sbin/nats-server", "/usr/bin/nats-server",
                                         "/usr/local/bin/nats-server" };

    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        if (access(paths[i], X_OK) == 0)
            return paths[i];
    }
    return NULL;
}

bool nats_servers_installed(void)
{
    return program() != NULL;
}

static int free_port(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(address);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    REQUIRE(bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
                getsockname(fd, (struct sockaddr *)&address, &len) == 0,
            "a free port");
    (void)close(fd);
    return ntohs(address.sin_port);
}

static void write_config(const struct nats_servers *servers, int node)
{
    const struct nats_node *own = &servers->nodes[node];
    char path[300];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/nats.conf", own->folder);
    file = fopen(path, "w");
    REQUIRE(file != NULL, path);
    (void)fprintf(file,
                  "server_name: n%d\nhost: 127.0.0.1\nport: %d\nhttp: \"127.0.0.1:%d\"\n"
                  "max_payload: 65536\n"
                  "jetstream { store_dir: \"%s/js\" }\n%s\n%s\n",
                  node, own->port, own->http_port, own->folder, servers->more,
                  strstr(servers->more, "authorization") == NULL &&
                          strstr(servers->more, "operator") == NULL
                      ? "authorization { user: " NATS_USER ", password: \"" NATS_PASSWORD "\" }"
                      : "");
    if (servers->count > 1) {
        (void)fprintf(file, "cluster { name: c, host: 127.0.0.1, port: %d, routes: [",
                      own->cluster_port);
        for (int i = 0; i < servers->count; i++)
            (void)fprintf(file, "%s\"nats://127.0.0.1:%d\"", i > 0 ? ", " : "",
                          servers->nodes[i].cluster_port);
        (void)fprintf(file, "] }\n");
    }
    (void)fclose(file);
}

/* -1: nobody listens. */
static int connect_to(int port)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                   .sin_port = htons((uint16_t)port) };
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
        return fd;
    (void)close(fd);
    return -1;
}

static bool answers(int port)
{
    const int fd = connect_to(port);

    if (fd >= 0)
        (void)close(fd);
    return fd >= 0;
}

static bool is_whole(int http_port)
{
    static const char request[] = "GET /healthz HTTP/1.0\r\n\r\n";
    static const char ok[] = "HTTP/1.0 200";
    char answer[sizeof(ok)] = "";
    const int fd = connect_to(http_port);
    const bool sent = fd >= 0 && write(fd, request, strlen(request)) == (ssize_t)strlen(request) &&
                      recv(fd, answer, strlen(ok), MSG_WAITALL) == (ssize_t)strlen(ok);

    if (fd >= 0)
        (void)close(fd);
    return sent && strcmp(answer, ok) == 0;
}

void nats_node_start(struct nats_servers *servers, int node)
{
    struct nats_node *own = &servers->nodes[node];
    const pid_t parent = getpid();
    char config[300], log[300];

    (void)snprintf(config, sizeof(config), "%s/nats.conf", own->folder);
    (void)snprintf(log, sizeof(log), "%s/log", own->folder);
    own->pid = fork();
    if (own->pid == 0) {
        const int fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0644);

        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent || fd < 0)
            _exit(127);
        (void)dup2(fd, STDOUT_FILENO);
        (void)dup2(fd, STDERR_FILENO);
        (void)execl(program(), "nats-server", "-c", config, (char *)NULL);
        _exit(127);
    }
    REQUIRE(own->pid > 0, "nats-server starts");
    for (int i = 0; i < START_TRIES && !answers(own->port); i++)
        (void)usleep(10000);
    REQUIRE(answers(own->port), "nats-server listens");
}

bool nats_node_await(const struct nats_servers *servers, int node)
{
    const int port = servers->nodes[node].http_port;

    for (int i = 0; i < WHOLE_TRIES && !is_whole(port); i++)
        (void)usleep(50000); /* nothing tells when it is */
    return is_whole(port);
}

void nats_servers_start(struct nats_servers *servers, int count, const char *more)
{
    static int made;

    *servers = (struct nats_servers){ .count = count };
    (void)snprintf(servers->more, sizeof(servers->more), "%s", more != NULL ? more : "");
    for (int i = 0; i < count; i++) {
        struct nats_node *node = &servers->nodes[i];

        node->port = free_port();
        node->cluster_port = free_port();
        node->http_port = free_port();
        (void)snprintf(node->folder, sizeof(node->folder), "%s/nats%d", test_folder(), made++);
        REQUIRE(mkdir(node->folder, 0755) == 0, node->folder);
    }
    for (int i = 0; i < count; i++) {
        write_config(servers, i);
        nats_node_start(servers, i);
    }
}

void nats_node_kill(struct nats_servers *servers, int node)
{
    struct nats_node *own = &servers->nodes[node];

    if (own->pid <= 0)
        return;
    (void)kill(own->pid, SIGKILL);
    while (waitpid(own->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    own->pid = 0;
}

void nats_node_freeze(struct nats_servers *servers, int node, bool frozen)
{
    const pid_t pid = servers->nodes[node].pid;
    int status = 0;

    (void)kill(pid, frozen ? SIGSTOP : SIGCONT);
    if (frozen) /* every thread of it, not only soon */
        REQUIRE(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status), "it stops");
}

void nats_servers_stop(struct nats_servers *servers)
{
    for (int i = 0; i < servers->count; i++)
        nats_node_kill(servers, i);
}
