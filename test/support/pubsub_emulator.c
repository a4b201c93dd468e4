/* Starts Google's emulator of Pub/Sub: a Java program, started without the script around it, which
 * would leave it behind. */
#include "pubsub_emulator.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FOLDER "/usr/lib/google-cloud-sdk/platform/pubsub-emulator/lib"
enum { START_TRIES = 600, TRY_NS = 100000000 };

static int free_port(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET };
    socklen_t size = sizeof(address);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int port = 0;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
        getsockname(fd, (struct sockaddr *)&address, &size) == 0)
        port = ntohs(address.sin_port);
    if (fd >= 0)
        (void)close(fd);
    return port;
}

/* It answers HTTP on its port when it is ready. */
static bool is_up(int port)
{
    static const char ASK[] = "GET / HTTP/1.0\r\n\r\n";
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char answer[16] = "";
    bool ok;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ok = fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
         write(fd, ASK, sizeof(ASK) - 1) > 0 && read(fd, answer, sizeof(answer) - 1) > 0 &&
         strstr(answer, "200") != NULL;
    if (fd >= 0)
        (void)close(fd);
    return ok;
}

static void run(const char *jar, int port)
{
    char address[64];
    const int null_fd = open("/dev/null", O_RDWR);

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)dup2(null_fd, STDIN_FILENO);
    (void)dup2(null_fd, STDOUT_FILENO);
    (void)dup2(null_fd, STDERR_FILENO);
    (void)snprintf(address, sizeof(address), "--port=%d", port);
    (void)execlp("java", "java", "-Xmx256m", "-jar", jar, "--host=127.0.0.1", address,
                 (char *)NULL);
    _exit(127);
}

bool pubsub_emulator_start(struct pubsub_emulator *emulator)
{
    const int port = free_port();
    glob_t found;
    bool is_there = false;

    *emulator = (struct pubsub_emulator){ 0 };
    if (glob(FOLDER "/*emulator*.jar", 0, NULL, &found) != 0)
        return false;
    (void)snprintf(emulator->address, sizeof(emulator->address), "127.0.0.1:%d", port);
    emulator->pid = fork();
    if (emulator->pid == 0)
        run(found.gl_pathv[0], port);
    globfree(&found);
    for (int i = 0; emulator->pid > 0 && !is_there && i < START_TRIES; i++) {
        (void)nanosleep(&(struct timespec){ .tv_nsec = TRY_NS }, NULL);
        if (waitpid(emulator->pid, NULL, WNOHANG) == emulator->pid)
            return false; /* no Java */
        is_there = is_up(port);
    }
    if (!is_there)
        pubsub_emulator_stop(emulator);
    return is_there;
}

void pubsub_emulator_stop(struct pubsub_emulator *emulator)
{
    if (emulator->pid <= 0)
        return;
    (void)kill(emulator->pid, SIGKILL);
    (void)waitpid(emulator->pid, NULL, 0);
    emulator->pid = 0;
}
