/* Secrets from the environment and from files. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adapter/system/system.h"

static bool missing(struct str reference, const char *why, struct error *err)
{
    return error_set(err, ERROR_FATAL, "secret.missing", "%.*s %s", STR_ARG(reference), why);
}

static bool from_environment(struct str reference, const char *name, struct secret *secret,
                             struct error *err)
{
    const char *value = getenv(name);
    const size_t len = value != NULL ? strlen(value) : 0;

    if (len == 0)
        return missing(reference, value == NULL ? "is not set" : "is empty", err);
    if (len > SECRET_BYTES_MAX)
        return error_set(err, ERROR_FATAL, "secret.too_long", "%.*s has more than %d bytes",
                         STR_ARG(reference), SECRET_BYTES_MAX);
    memcpy(secret->bytes, value, len);
    secret->len = len;
    return true;
}

static void warn_when_public(struct log *log, struct str reference, int fd)
{
    struct stat stat;

    if (fstat(fd, &stat) == 0 && (stat.st_mode & S_IROTH) != 0)
        log_event(log, LOG_WARN, "secret file is readable by everyone",
                  LOG_STR("reference", reference), LOG_STR("hint", STR("chmod o-r")));
}

/* Reads up to the end or the maximum. False on an error of the system. */
static bool read_all(int fd, struct secret *secret, bool *is_longer)
{
    char beyond;
    ssize_t got;

    secret->len = 0;
    do {
        got = read(fd, secret->bytes + secret->len, SECRET_BYTES_MAX - secret->len);
        if (got > 0)
            secret->len += (size_t)got;
    } while ((got > 0 && secret->len < SECRET_BYTES_MAX) || (got < 0 && errno == EINTR));
    *is_longer = secret->len == SECRET_BYTES_MAX && read(fd, &beyond, 1) == 1;
    return got >= 0;
}

static void trim_line_end(struct secret *secret)
{
    if (secret->len > 0 && secret->bytes[secret->len - 1] == '\n')
        secret->len--;
    if (secret->len > 0 && secret->bytes[secret->len - 1] == '\r')
        secret->len--;
}

static bool from_file(struct log *log, struct str reference, const char *path,
                      struct secret *secret, struct error *err)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool is_read, is_longer;

    if (fd < 0)
        return error_set(err, ERROR_FATAL, errno == ENOENT ? "secret.missing" : "secret.unreadable",
                         "%.*s: %s", STR_ARG(reference), strerror(errno));
    warn_when_public(log, reference, fd);
    is_read = read_all(fd, secret, &is_longer);
    (void)close(fd);
    if (is_read && !is_longer)
        trim_line_end(secret);
    if (is_read && !is_longer && secret->len > 0)
        return true;
    secret_wipe(secret);
    if (!is_read)
        return error_set(err, ERROR_FATAL, "secret.unreadable", "%.*s cannot be read",
                         STR_ARG(reference));
    if (is_longer)
        return error_set(err, ERROR_FATAL, "secret.too_long", "%.*s has more than %d bytes",
                         STR_ARG(reference), SECRET_BYTES_MAX);
    return missing(reference, "is empty", err);
}

static bool get(struct secret_source *source, struct str reference, struct secret *secret,
                struct error *err)
{
    const struct system_secrets *secrets = (const struct system_secrets *)source;
    struct str place = reference;
    const struct str kind = str_cut(&place, ':');
    char name[PATH_MAX];

    secret->len = 0;
    if (place.len > 0 && place.len < sizeof(name) && str_find_char(place, '\0') == place.len) {
        (void)snprintf(name, sizeof(name), "%.*s", STR_ARG(place));
        if (str_eq(kind, STR("env")))
            return from_environment(reference, name, secret, err);
        if (str_eq(kind, STR("file")))
            return from_file(secrets->log, reference, name, secret, err);
    }
    /* The setting is not shown: it may be the secret itself. */
    return error_set(err, ERROR_FATAL, "secret.reference",
                     "a secret is at env:NAME or file:PATH, not in the setting itself");
}

void system_secrets_init(struct system_secrets *secrets, struct log *log)
{
    *secrets = (struct system_secrets){ .source.get = get, .log = log };
}
