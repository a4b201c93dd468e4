/* Files that are there as a whole or not at all. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adapter/file/file_out.h"
#include "test.h"

enum { PATH_BYTES = 256, LARGE = 300000 };

static char folder[] = "/tmp/patra-file-out.XXXXXX";
static char path[PATH_BYTES];

static void begin(void)
{
    (void)strcpy(folder, "/tmp/patra-file-out.XXXXXX");
    REQUIRE(mkdtemp(folder) != NULL, "a folder");
    (void)snprintf(path, sizeof(path), "%s/out", folder);
}

/* How many entries the folder has. */
static int entries(void)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    int count = 0;

    REQUIRE(dir != NULL, folder);
    while ((entry = readdir(dir)) != NULL)
        count += entry->d_name[0] != '.';
    (void)closedir(dir);
    return count;
}

static void end(void)
{
    (void)unlink(path);
    CHECK_EQ(entries(), 0, "nothing is left beside it");
    CHECK_EQ(rmdir(folder), 0, "the folder");
}

static struct str content(void)
{
    static char bytes[2 * LARGE];
    const int fd = open(path, O_RDONLY);
    ssize_t len;

    REQUIRE(fd >= 0, "there is a file");
    len = read(fd, bytes, sizeof(bytes));
    (void)close(fd);
    return (struct str){ bytes, len > 0 ? (size_t)len : 0 };
}

TEST(a_file_has_its_name_when_it_is_whole)
{
    struct byte_sink *sink;
    struct error err = { 0 };

    begin();
    REQUIRE_OK(file_out_open(path, &sink, &err), err);
    REQUIRE_OK(byte_sink_write(sink, STR("all of "), &err), err);
    CHECK(access(path, F_OK) != 0, "not before");
    REQUIRE_OK(byte_sink_write(sink, STR("it"), &err), err);
    REQUIRE_OK(byte_sink_end(sink, &err), err);
    byte_sink_close(sink);
    CHECK_STR(content(), STR("all of it"), "content");
    CHECK_EQ(entries(), 1, "one file");
    end();
}

TEST(what_was_not_ended_leaves_the_file_before_it)
{
    struct byte_sink *sink;
    struct error err = { 0 };

    begin();
    REQUIRE_OK(file_out_text(path, STR("old"), &err), err);
    REQUIRE_OK(file_out_open(path, &sink, &err), err);
    REQUIRE_OK(byte_sink_write(sink, STR("half of the new"), &err), err);
    byte_sink_close(sink);
    CHECK_STR(content(), STR("old"), "the old one");
    CHECK_EQ(entries(), 1, "and nothing else");
    REQUIRE_OK(file_out_text(path, STR("new"), &err), err);
    CHECK_STR(content(), STR("new"), "replaced");
    CHECK_EQ(entries(), 1, "and nothing else");
    end();
}

TEST(bytes_come_in_their_order_whatever_the_size_of_writes)
{
    static char bytes[LARGE];
    static const size_t sizes[] = { 1, 7, 65535, 65536, 65537, 100000, 0, 3 };
    struct byte_sink *sink;
    struct error err = { 0 };
    size_t at = 0;

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)(i * 31 % 251);
    begin();
    REQUIRE_OK(file_out_open(path, &sink, &err), err);
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        const size_t len = at + sizes[i] <= sizeof(bytes) ? sizes[i] : sizeof(bytes) - at;

        REQUIRE_OK(byte_sink_write(sink, (struct str){ bytes + at, len }, &err), err);
        at += len;
    }
    REQUIRE_OK(byte_sink_end(sink, &err), err);
    byte_sink_close(sink);
    CHECK_EQ(content().len, at, "bytes");
    CHECK(memcmp(content().data, bytes, at) == 0, "in order");
    end();
}

TEST(a_new_file_has_the_mode_of_any_other)
{
    const mode_t before = umask(027);
    struct error err = { 0 };
    struct stat status;

    begin();
    REQUIRE_OK(file_out_text(path, STR("x"), &err), err);
    (void)umask(before);
    REQUIRE(stat(path, &status) == 0, path);
    CHECK_EQ(status.st_mode & 0777, 0640, "by the umask");
    end();
}

TEST(a_path_that_cannot_be_is_named)
{
    struct byte_sink *sink;
    struct error err = { 0 };

    begin();
    (void)snprintf(path, sizeof(path), "%s/no/such/folder", folder);
    CHECK(!file_out_open(path, &sink, &err), "it fails");
    CHECK(sink == NULL, "without a sink");
    CHECK_STR(str_of(err.code), STR("file.write"), err.text);
    CHECK_EQ(err.level, ERROR_REQUEST, "trying again does not help");
    CHECK(strstr(err.text, path) != NULL, err.text);
    end();
}

TEST(a_device_is_written_as_it_is)
{
    struct error err = { 0 };
    struct stat status;

    REQUIRE_OK(file_out_text("/dev/null", STR("x"), &err), err);
    REQUIRE(stat("/dev/null", &status) == 0, "it is still there");
    CHECK(S_ISCHR(status.st_mode), "and no file");
}

TEST(a_full_disk_may_have_room_later)
{
    struct error err = { 0 };

    CHECK(!file_out_text("/dev/full", STR("x"), &err), "it fails");
    CHECK_EQ(err.level, ERROR_TRANSIENT, err.text);
    CHECK(strstr(err.text, "/dev/full") != NULL, err.text);
}

TEST(a_reader_that_has_gone_is_an_error)
{
    struct byte_sink *sink;
    struct error err = { 0 };
    int ends[2];

    (void)signal(SIGPIPE, SIG_IGN);
    REQUIRE(pipe(ends) == 0, "a pipe");
    (void)close(ends[0]);
    REQUIRE_OK(file_out_fd(ends[1], "standard output", &sink, &err), err);
    REQUIRE_OK(byte_sink_write(sink, STR("kept"), &err), err);
    CHECK(!byte_sink_end(sink, &err), "it cannot be handed on");
    CHECK_EQ(err.level, ERROR_TRANSIENT, err.text);
    CHECK(strstr(err.text, "standard output") != NULL, err.text);
    byte_sink_close(sink);
    CHECK_EQ(close(ends[1]), 0, "the descriptor stays open");
}
