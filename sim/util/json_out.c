#include "sim/util/json_out.h"

/* The length of the well-formed UTF-8 sequence at the beginning, 0 when there is none. */
static size_t sequence_length(struct str text)
{
    for (size_t len = 1; len <= 4 && len <= text.len; len++) {
        if (str_is_utf8(str_slice(text, 0, len)))
            return len;
    }
    return 0;
}

void json_add_string(struct buf *json, struct str text)
{
    buf_add_char(json, '"');
    while (text.len > 0) {
        const unsigned char c = (unsigned char)text.data[0];
        size_t len = 1;

        if (c == '"' || c == '\\')
            buf_printf(json, "\\%c", c);
        else if (c < 0x20)
            buf_printf(json, "\\u%04x", c);
        else if ((len = sequence_length(text)) > 0)
            buf_add(json, str_slice(text, 0, len));
        else
            buf_add(json, STR("\\ufffd"));
        text = str_slice(text, len > 0 ? len : 1, text.len);
    }
    buf_add_char(json, '"');
}
