/* no_locks: a library to be loaded before a program (LD_PRELOAD), whose files then are on a
 * file system that cannot lock, as NFS without its lock manager: every request for a lock fails. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

/* With 64-bit offsets the header's fcntl() is fcntl64; this is the other one. */
int fcntl_short(int fd, int command, ...) __asm__("fcntl");

static int answer(int fd, int command, long argument)
{
    switch (command) {
    case F_GETLK:
    case F_SETLK:
    case F_SETLKW:
    case F_OFD_GETLK:
    case F_OFD_SETLK:
    case F_OFD_SETLKW:
        errno = ENOLCK;
        return -1;
    default:
        return (int)syscall(SYS_fcntl, fd, command, argument);
    }
}

int fcntl(int fd, int command, ...)
{
    va_list args;
    long argument;

    va_start(args, command);
    argument = va_arg(args, long);
    va_end(args);
    return answer(fd, command, argument);
}

int fcntl_short(int fd, int command, ...)
{
    va_list args;
    long argument;

    va_start(args, command);
    argument = va_arg(args, long);
    va_end(args);
    return answer(fd, command, argument);
}
