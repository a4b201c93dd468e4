/* Starts, restarts and removes a PostgreSQL server of the test program's own. */
#include "postgres.h"

#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BIN "/usr/lib/postgresql/15/bin/"

enum { PATH_BYTES = 256, DATABASES_MAX = 2000, START_SECONDS_MAX = 90 };

static struct {
    bool started;
    bool is_in_earnest;
    char folder[64];
    int commands; /* our end of the pipe to the watchdog; closed when this process ends */
    int answers;
    pid_t test; /* the process that started it; forked children must not */
    char dsns[DATABASES_MAX][PATH_BYTES];
    int count;
} server;

/* Root may not run PostgreSQL; anybody else runs it as himself. */
static void become_unprivileged(void)
{
    const struct passwd *user = getpwnam("postgres");

    if (getuid() != 0)
        return;
    if (user == NULL)
        user = getpwnam("nobody");
    if (user == NULL || initgroups(user->pw_name, user->pw_gid) != 0 || setgid(user->pw_gid) != 0 ||
        setuid(user->pw_uid) != 0)
        _exit(127);
}

static void give_to_postgres(const char *path)
{
    const struct passwd *user = getpwnam("postgres");

    if (user == NULL)
        user = getpwnam("nobody");
    if (getuid() == 0 && (user == NULL || chown(path, user->pw_uid, user->pw_gid) != 0))
        abort();
}

/* The child of a watchdog: with it, the server goes as well. */
static pid_t spawn(char *const argv[])
{
    const pid_t pid = fork();
    char log[PATH_BYTES];
    int fd;

    if (pid != 0)
        return pid;
    become_unprivileged();
    (void)prctl(PR_SET_PDEATHSIG, SIGQUIT); /* after the change of user, which would clear it */
    (void)setpgid(0, 0);
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
    (void)snprintf(log, sizeof(log), "%s/log", server.folder);
    fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0 || chdir("/") != 0)
        _exit(127);
    (void)execv(argv[0], argv);
    _exit(127);
}

static bool run(char *const argv[])
{
    const pid_t pid = spawn(argv);
    int status = -1;

    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static bool make_cluster(void)
{
    char data[PATH_BYTES];
    /* A linguistic order by default: what must be in byte order has to say so. */
    char *const argv[] = { (char *)BIN "initdb",
                           (char *)"-D",
                           data,
                           (char *)"-U",
                           (char *)"patra",
                           (char *)"--auth=trust",
                           (char *)"--no-sync",
                           (char *)"--encoding=UTF8",
                           (char *)"--locale=C.UTF-8",
                           (char *)"--locale-provider=icu",
                           (char *)"--icu-locale=en-US",
                           NULL };

    (void)snprintf(data, sizeof(data), "%s/data", server.folder);
    return run(argv);
}

static pid_t start_server(void)
{
    char data[PATH_BYTES];
    char *const argv[] = { (char *)BIN "postgres",
                           (char *)"-D",
                           data,
                           (char *)"-k",
                           server.folder,
                           (char *)"-clisten_addresses=",
                           (char *)"-cmax_connections=200",
                           server.is_in_earnest ? NULL : (char *)"-F",
                           (char *)"-cfull_page_writes=off",
                           (char *)"-cshared_buffers=32MB",
                           NULL };

    (void)snprintf(data, sizeof(data), "%s/data", server.folder);
    return spawn(argv);
}

static int remove_entry(const char *path, const struct stat *stat, int type, struct FTW *ftw)
{
    (void)stat;
    (void)type;
    (void)ftw;
    return remove(path);
}

static void stop_server(pid_t *pid)
{
    if (*pid > 0) {
        (void)kill(*pid, SIGQUIT);
        (void)waitpid(*pid, NULL, 0);
    }
    *pid = 0;
}

/* Obeys '+' (start) and '-' (stop), each answered by a byte; ends with the pipe. */
static void watch(int commands, int answers)
{
    pid_t pid = 0;
    char byte;

    (void)setsid();
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGTERM, SIG_IGN);
    (void)signal(SIGHUP, SIG_IGN);
    if (!make_cluster())
        _exit(1);
    while (read(commands, &byte, 1) == 1) {
        if (byte == '-')
            stop_server(&pid);
        else if (pid == 0)
            pid = start_server();
        if (write(answers, &byte, 1) != 1)
            break;
    }
    stop_server(&pid);
    (void)nftw(server.folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    _exit(0);
}

static bool fail(struct error *err, const char *what)
{
    char path[PATH_BYTES], line[512] = "", last[512] = "no log";
    FILE *log;

    (void)snprintf(path, sizeof(path), "%s/log", server.folder);
    log = fopen(path, "r");
    while (log != NULL && fgets(line, sizeof(line), log) != NULL)
        memcpy(last, line, sizeof(last));
    if (log != NULL)
        (void)fclose(log);
    return error_set(err, ERROR_FATAL, "test.postgres", "%s: %s", what, last);
}

static bool command(char byte, struct error *err)
{
    char answer;

    return (write(server.commands, &byte, 1) == 1 && read(server.answers, &answer, 1) == 1) ||
           fail(err, "the watchdog of PostgreSQL is gone");
}

static bool wait_until_ready(struct error *err)
{
    const struct timespec pause = { 0, 20000000 };
    char dsn[PATH_BYTES];

    (void)snprintf(dsn, sizeof(dsn), "postgresql:///postgres?host=%s&user=patra", server.folder);
    for (int i = 0; i < START_SECONDS_MAX * 50; i++) {
        if (PQping(dsn) == PQPING_OK)
            return true;
        (void)nanosleep(&pause, NULL);
    }
    return fail(err, "PostgreSQL does not answer");
}

void postgres_in_earnest(void)
{
    server.is_in_earnest = true;
}

bool postgres_stop(struct error *err)
{
    return command('-', err);
}

bool postgres_start(struct error *err)
{
    return command('+', err) && wait_until_ready(err);
}

/* ---- a standby ---- */

bool postgres_demote(struct error *err)
{
    char path[PATH_BYTES];
    int fd;

    (void)snprintf(path, sizeof(path), "%s/data/standby.signal", server.folder);
    if (!postgres_stop(err))
        return false;
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0)
        return fail(err, "no file that says standby");
    (void)close(fd);
    give_to_postgres(path);
    return postgres_start(err);
}

bool postgres_promote(struct error *err)
{
    char dsn[PATH_BYTES];
    PGconn *connection;
    PGresult *result;
    bool ok;

    (void)snprintf(dsn, sizeof(dsn), "postgresql:///postgres?host=%s&user=patra", server.folder);
    connection = PQconnectdb(dsn);
    result = PQexec(connection, "SELECT 1 WHERE pg_promote(true, 60)");
    ok = PQntuples(result) == 1 || fail(err, PQerrorMessage(connection));
    PQclear(result);
    /* A standby cannot be made of a server that crashed before its first checkpoint after that:
     * its new timeline would begin before the point from which it recovers. */
    PQclear(PQexec(connection, "CHECKPOINT"));
    PQfinish(connection);
    return ok;
}

/* ---- one that hangs ---- */

static void signal_all(int signal_number)
{
    char path[PATH_BYTES];
    FILE *file;
    int pid = 0, child;

    (void)snprintf(path, sizeof(path), "%s/data/postmaster.pid", server.folder);
    file = fopen(path, "r");
    if (file == NULL || fscanf(file, "%d", &pid) != 1)
        abort();
    (void)fclose(file);
    (void)kill(pid, signal_number); /* first: it makes no more of them */
    (void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
    file = fopen(path, "r");
    while (file != NULL && fscanf(file, "%d", &child) == 1)
        (void)kill(child, signal_number);
    if (file != NULL)
        (void)fclose(file);
}

void postgres_freeze(void)
{
    signal_all(SIGSTOP);
}

void postgres_thaw(void)
{
    signal_all(SIGCONT);
}

static bool start_watchdog(struct error *err)
{
    int commands[2], answers[2];
    pid_t pid;

    (void)snprintf(server.folder, sizeof(server.folder), "/tmp/patra-pg.XXXXXX");
    if (mkdtemp(server.folder) == NULL || pipe2(commands, O_CLOEXEC) != 0 ||
        pipe2(answers, O_CLOEXEC) != 0)
        return fail(err, "no folder or pipe for PostgreSQL");
    give_to_postgres(server.folder);
    (void)fflush(stdout);
    pid = fork();
    if (pid < 0)
        return fail(err, "no process for PostgreSQL");
    if (pid == 0) {
        (void)close(commands[1]);
        (void)close(answers[0]);
        watch(commands[0], answers[1]);
    }
    (void)close(commands[0]);
    (void)close(answers[1]);
    server.commands = commands[1];
    server.answers = answers[0];
    server.test = getpid();
    server.started = true;
    return postgres_start(err);
}

/* The addresses of databases are those of the server with a name put in. */
static void address(char *dsn, size_t size, const char *name)
{
    const char *given = getenv("PATRA_TEST_POSTGRES");
    const char *query = given != NULL ? strchr(given, '?') : NULL;

    if (given == NULL)
        (void)snprintf(dsn, size, "postgresql:///%s?host=%s&user=patra", name, server.folder);
    else
        (void)snprintf(dsn, size, "%.*s%s%s",
                       (int)(query != NULL ? query - given : (long)strlen(given)), given, name,
                       query != NULL ? query : "");
}

const char *postgres_new_database(struct error *err)
{
    char *dsn = server.dsns[server.count];
    char sql[PATH_BYTES], name[64], first[PATH_BYTES];
    PGconn *connection;
    PGresult *result;
    bool ok;

    *err = (struct error){ 0 };
    if (getenv("PATRA_TEST_POSTGRES") == NULL && !server.started) {
        if (access(BIN "postgres", X_OK) != 0)
            return NULL;
        if (!start_watchdog(err))
            return NULL;
    }
    (void)snprintf(name, sizeof(name), "t%d_%d", (int)getpid(), server.count);
    (void)snprintf(sql, sizeof(sql), "CREATE DATABASE %s", name);
    address(first, sizeof(first), "postgres");
    address(dsn, PATH_BYTES, name);
    connection = PQconnectdb(first);
    result = PQexec(connection, sql);
    ok = PQresultStatus(result) == PGRES_COMMAND_OK && server.count + 1 < DATABASES_MAX;
    if (!ok)
        (void)error_set(err, ERROR_FATAL, "test.postgres", "%s: %s", sql,
                        PQerrorMessage(connection));
    PQclear(result);
    PQfinish(connection);
    server.count += ok;
    return ok ? dsn : NULL;
}
