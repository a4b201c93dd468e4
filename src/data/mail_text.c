/* Headers, and base64 in lines. */
#include "data/mail_text.h"

#include "data/base64.h"
#include "data/http_date.h"

#define MAIL_BYTES_MAX ((size_t)1 << 20)
/* Of an encoded word, and of a line of the body: bytes before base64. */
enum { WORD_BYTES = 45, LINE_BYTES = 57 };

/* How many of the next bytes make whole characters, WORD_BYTES at most. */
static size_t word_len(struct str rest)
{
    size_t len = rest.len < WORD_BYTES ? rest.len : WORD_BYTES;

    while (len > 1 && len < rest.len && ((unsigned char)rest.data[len] & 0xc0) == 0x80)
        len--;
    return len;
}

/* RFC 2047: encoded words, each of whole characters. */
static void add_subject(struct buf *out, struct str subject)
{
    struct buf plain;
    struct str rest;

    buf_init(&plain, out->arena, MAIL_BYTES_MAX);
    for (size_t i = 0; i < subject.len; i++) {
        if ((unsigned char)subject.data[i] >= ' ')
            buf_add_char(&plain, subject.data[i]);
    }
    rest = buf_str(&plain);
    out->failed |= plain.failed;
    buf_add(out, STR("Subject:"));
    while (rest.len > 0) {
        const size_t len = word_len(rest);

        buf_add(out, STR(" =?UTF-8?B?"));
        base64_encode(out, str_slice(rest, 0, len));
        rest = str_slice(rest, len, rest.len);
        buf_add(out, rest.len > 0 ? STR("?=\r\n") : STR("?="));
    }
    buf_add(out, STR("\r\n"));
}

bool mail_text(struct arena *arena, const struct mail_parts *parts, struct str *text,
               struct error *err)
{
    char date[HTTP_DATE_TEXT_MAX];
    struct buf out;

    (void)http_date_format(parts->at_us, date);
    buf_init(&out, arena, MAIL_BYTES_MAX);
    buf_printf(&out, "From: <%.*s>\r\n", STR_ARG(parts->from));
    for (size_t i = 0; i < parts->to_count; i++)
        buf_printf(&out, "%s<%.*s>", i == 0 ? "To: " : ", ", STR_ARG(parts->to[i]));
    buf_add(&out, STR("\r\n"));
    add_subject(&out, parts->subject);
    buf_printf(&out,
               "Date: %s\r\nMessage-ID: <%.*s@patra>\r\nAuto-Submitted: auto-generated\r\n"
               "MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n"
               "Content-Transfer-Encoding: base64\r\n\r\n",
               date, STR_ARG(parts->id));
    for (size_t at = 0; at < parts->body.len; at += LINE_BYTES) {
        base64_encode(&out, str_slice(parts->body, at, at + LINE_BYTES));
        buf_add(&out, STR("\r\n"));
    }
    *text = buf_str(&out);
    return buf_ok(&out, err);
}
