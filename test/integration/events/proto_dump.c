/* proto-dump FILE: what event_proto_read() makes of a file, as JSON, for schema.py. */
#include <stdio.h>

#include "data/json_write.h"
#include "spec/event_proto.h"

static void write_field(struct json_writer *w, const struct schema_field *field)
{
    json_write_object(w);
    json_write_member_str(w, STR("name"), field->name);
    json_write_member_i64(w, STR("number"), field->number);
    json_write_member_str(w, STR("type"), field->type);
    json_write_member_i64(w, STR("shape"), field->shape);
    json_write_member_str(w, STR("key"), field->key_type);
    json_write_member_str(w, STR("oneof"), field->oneof);
    json_write_member_bool(w, STR("required"), field->is_required);
    json_write_end(w);
}

static void write_reserved(struct json_writer *w, const struct schema_reserved *reserved)
{
    json_write_object(w);
    json_write_member_str(w, STR("name"), reserved->name);
    json_write_member_i64(w, STR("first"), reserved->first);
    json_write_member_i64(w, STR("last"), reserved->last);
    json_write_end(w);
}

static void write_message(struct json_writer *w, const struct schema_message *message)
{
    json_write_object(w);
    json_write_member_str(w, STR("name"), message->name);
    json_write_member_bool(w, STR("enum"), message->is_enum);
    json_write_name(w, STR("fields"));
    json_write_array(w);
    for (size_t i = 0; i < message->fields.count; i++)
        write_field(w, &message->fields.items[i]);
    json_write_end(w);
    json_write_name(w, STR("reserved"));
    json_write_array(w);
    for (size_t i = 0; i < message->reserved.count; i++)
        write_reserved(w, &message->reserved.items[i]);
    json_write_end(w);
    json_write_end(w);
}

int main(int argc, char **argv)
{
    static char text[EVENT_PROTO_BYTES_MAX];
    struct event_schema schema;
    struct error err = { 0 };
    struct json_writer w;
    struct arena arena;
    struct buf out;
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    const size_t size = file != NULL ? fread(text, 1, sizeof(text), file) : 0;

    if (file == NULL)
        return 2;
    (void)fclose(file);
    arena_init(&arena, (size_t)64 << 20);
    if (!event_proto_read(&arena, (struct str){ text, size }, &schema, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    buf_init(&out, &arena, (size_t)16 << 20);
    json_writer_init(&w, &out);
    json_write_object(&w);
    json_write_member_str(&w, STR("package"), schema.name);
    json_write_name(&w, STR("messages"));
    json_write_array(&w);
    for (size_t i = 0; i < schema.messages.count; i++)
        write_message(&w, &schema.messages.items[i]);
    json_write_end(&w);
    json_write_end(&w);
    printf("%.*s\n", STR_ARG(buf_str(&out)));
    arena_release(&arena);
    return 0;
}
