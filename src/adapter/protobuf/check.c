/* Walks the fields of a message, and of the messages in it. */
#include "adapter/protobuf/check.h"

#include "data/utf8.h"

enum { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_LEN = 2, WIRE_32 = 5, VARINT_BYTES_MAX = 10 };

static bool take(struct str *rest, size_t count, struct str *taken)
{
    if (count > rest->len)
        return false;
    *taken = (struct str){ rest->data, count };
    *rest = (struct str){ rest->data + count, rest->len - count };
    return true;
}

static bool take_varint(struct str *rest, uint64_t *value)
{
    *value = 0;
    for (int i = 0; i < VARINT_BYTES_MAX; i++) {
        struct str byte;

        if (!take(rest, 1, &byte))
            return false;
        *value |= (uint64_t)(byte.data[0] & 0x7F) << (7 * i);
        if ((byte.data[0] & 0x80) == 0)
            return true;
    }
    return false;
}

/* The bytes of a field after its tag. Groups are not of this version of the language. */
static bool take_value(struct str *rest, uint64_t wire, struct str *value)
{
    uint64_t number;

    switch (wire) {
    case WIRE_VARINT:
        return take_varint(rest, &number);
    case WIRE_64:
        return take(rest, 8, value);
    case WIRE_32:
        return take(rest, 4, value);
    case WIRE_LEN:
        return take_varint(rest, &number) && number <= rest->len &&
               take(rest, (size_t)number, value);
    default:
        return false;
    }
}

static bool is_text(struct str text)
{
    const char *const end = text.data + text.len;

    for (const char *at = text.data; at < end;) {
        const size_t len = *at == '\0' ? 0 : utf8_sequence(at, end);

        if (len == 0)
            return false;
        at += len;
    }
    return true;
}

static bool is_plain(struct str rest, const ProtobufCMessageDescriptor *kind, int depth)
{
    if (depth > PROTOBUF_DEPTH_MAX)
        return false;
    while (rest.len > 0) {
        const ProtobufCFieldDescriptor *field;
        struct str value = { 0 };
        uint64_t tag;

        if (!take_varint(&rest, &tag) || tag >> 3 > UINT32_MAX ||
            !take_value(&rest, tag & 7, &value))
            return false;
        field = protobuf_c_message_descriptor_get_field(kind, (unsigned)(tag >> 3));
        if (field == NULL || (tag & 7) != WIRE_LEN)
            continue;
        if (field->type == PROTOBUF_C_TYPE_STRING && !is_text(value))
            return false;
        if (field->type == PROTOBUF_C_TYPE_MESSAGE &&
            !is_plain(value, field->descriptor, depth + 1))
            return false;
    }
    return true;
}

bool protobuf_is_plain(struct str bytes, const ProtobufCMessageDescriptor *kind)
{
    return is_plain(bytes, kind, 1);
}
