/* Any URL and any answer (a line, then the rest as curl -i writes it): refused, or a source file
 * that has no errors. The value of a secret parameter is not in it. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "data/saved_response.h"
#include "data/xml.h"
#include "engine/guess/guess.h"
#include "spec/check.h"

static void check_file(struct arena *arena, const struct guess *guess)
{
    struct fault_list faults;
    struct source source;
    struct error err;
    struct buf text;

    buf_init(&text, arena, 4 << 20);
    guess_write(guess, &text);
    fault_list_init(&faults, arena);
    if (text.failed || arena->failed)
        return;
    if (!source_lint(arena, &xml_module, &(struct source_text){ .file = buf_str(&text) }, &faults,
                     &source) &&
        !faults.failed && !fault_list_ok(&faults, &err)) {
        fprintf(stderr, "%.*s\n%s\n", STR_ARG(buf_str(&text)), err.text);
        abort();
    }
    assert(str_find(buf_str(&text), STR("QZXJ")) == text.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct saved_response saved = { .text = { (const char *)data, size } };
    struct http_response reply = { 0 };
    struct guess guess;
    struct arena arena;
    struct error err;
    struct str url;

    arena_init(&arena, 64 << 20);
    url = str_cut(&saved.text, '\n');
    if (str_find(url, STR("QZXJ")) == url.len && str_find_char(url, '\0') == url.len) {
        url = arena_printf(&arena, "%.*s%capi_key=QZXJ", STR_ARG(url),
                           str_find_char(url, '?') < url.len ? '&' : '?');
        if (saved_response_read(&saved, &arena, &reply, &err) &&
            str_find(saved.text, STR("QZXJ")) == saved.text.len &&
            guess_make(&guess, &arena,
                       &(struct guess_input){
                           .name = STR("demo"), .url = url, .reply = &reply, .xml = &xml_module },
                       &err))
            check_file(&arena, &guess);
    }
    arena_release(&arena);
    return 0;
}
