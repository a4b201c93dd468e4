/* Controls from upstream are printed, not obeyed. */
#include "cli/visible.h"

#include <stdlib.h>

#include "base/str.h"
#include "test.h"

TEST(controls_are_printed_visibly)
{
    char *text = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);
    FILE *out = visible_stream(to);

    REQUIRE(out != NULL, "a stream");
    fprintf(out, "title\x1b]0;owned\x07 \xc2\x9b"
                 "31m r\xc3\xa9sum\xc3\xa9\ta\r\x7f\n");
    visible_close(out, to);
    (void)fclose(to);
    CHECK_STR(((struct str){ text, len }),
              STR("title\\x1b]0;owned\\x07 \\u009b31m r\xc3\xa9sum\xc3\xa9\ta\\x0d\\x7f\n"),
              "text");
    free(text);
}

TEST(a_pipe_gets_every_byte_as_it_is)
{
    FILE *to = tmpfile();

    REQUIRE(to != NULL, "a file");
    CHECK(visible_on_terminal(to) == to, "not a terminal");
    (void)fclose(to);
}
