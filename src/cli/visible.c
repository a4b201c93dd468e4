/* A stream of the C library with a filter of our own. */
#include "cli/visible.h"

#include <stdbool.h>
#include <sys/types.h>
#include <unistd.h>

static bool is_control(unsigned char c)
{
    return (c < ' ' && c != '\n' && c != '\t') || c == 0x7F;
}

/* U+0080 to U+009F are C2 80 to C2 9F. A pair that is cut by two writes is two bytes that no
 * terminal takes for a control: each write has whole lines or the whole buffer. */
static bool is_c1(const char *bytes, size_t left)
{
    return left > 1 && (unsigned char)bytes[0] == 0xC2 && (unsigned char)bytes[1] >= 0x80 &&
           (unsigned char)bytes[1] < 0xA0;
}

static ssize_t write_visibly(void *cookie, const char *bytes, size_t count)
{
    FILE *to = cookie;

    for (size_t i = 0; i < count; i++) {
        if (is_c1(bytes + i, count - i))
            fprintf(to, "\\u%04x", (unsigned)(unsigned char)bytes[++i]);
        else if (is_control((unsigned char)bytes[i]))
            fprintf(to, "\\x%02x", (unsigned)(unsigned char)bytes[i]);
        else
            (void)fputc(bytes[i], to);
    }
    return fflush(to) == 0 && !ferror(to) ? (ssize_t)count : 0;
}

FILE *visible_stream(FILE *to)
{
    return fopencookie(to, "w", (cookie_io_functions_t){ .write = write_visibly });
}

FILE *visible_on_terminal(FILE *to)
{
    FILE *out = isatty(fileno(to)) ? visible_stream(to) : NULL;

    return out != NULL ? out : to;
}

void visible_close(FILE *out, FILE *to)
{
    if (out != to)
        (void)fclose(out);
}
