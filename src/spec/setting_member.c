/* Settings of small files: the members they are read into, and their JSON. */
#include "spec/setting_member.h"

#include <assert.h>

#include "data/json.h"
#include "spec/setting_value.h"

/* ---- members ---- */

static bool put_texts(struct arena *arena, const struct spec_target *into, struct str json,
                      void *owner)
{
    struct json_doc doc;
    struct json_iter it;
    struct str *items;
    struct error err;
    size_t count;

    if (!json_parse(&doc, arena, json, &err))
        return false; /* setting_read wrote it: only memory can be short */
    count = json_count(&doc, json_root(&doc));
    items = ARENA_ARRAY(arena, struct str, count);
    if (items == NULL)
        return false;
    for (it = json_each(&doc, json_root(&doc)); json_next(&it);) {
        if (!json_string(&doc, it.value, arena, &items[it.index], &err))
            return false;
    }
    *(const struct str **)((char *)owner + into->offset) = items;
    *(size_t *)((char *)owner + into->count_offset) = count;
    return true;
}

bool setting_put(struct arena *arena, const struct setting *setting,
                 const struct registry_value *value, void *owner)
{
    const struct spec_target *into = &setting->into;
    void *member = (char *)owner + into->offset;

    if (!value->is_set)
        return true;
    switch (into->kind) {
    case SPEC_BOOL:
        *(bool *)member = value->number != 0;
        return true;
    case SPEC_I64:
        *(int64_t *)member = value->number;
        return true;
    case SPEC_WORD:
        *(unsigned *)member = (unsigned)code_find(setting->codes, value->text);
        return true;
    case SPEC_STR:
        *(struct str *)member = value->text;
        return true;
    default:
        assert(into->kind == SPEC_TEXTS);
        return put_texts(arena, into, value->text, owner);
    }
}

static bool get_texts(struct arena *arena, const struct spec_target *into, const void *owner,
                      struct registry_value *value)
{
    const struct str *items = *(const struct str *const *)((const char *)owner + into->offset);
    const size_t count = *(const size_t *)((const char *)owner + into->count_offset);
    struct json_writer w;
    struct buf out;

    if (count == 0)
        return true;
    buf_init(&out, arena, (size_t)1 << 20);
    json_writer_init(&w, &out);
    json_write_array(&w);
    for (size_t i = 0; i < count; i++)
        json_write_str(&w, items[i]);
    json_write_end(&w);
    json_writer_finish(&w);
    *value = (struct registry_value){ .is_set = true, .text = buf_str(&out) };
    return !out.failed;
}

bool setting_get(struct arena *arena, const struct setting *setting, const void *owner,
                 struct registry_value *value)
{
    const struct spec_target *into = &setting->into;
    const void *member = (const char *)owner + into->offset;

    *value = (struct registry_value){ 0 };
    switch (into->kind) {
    case SPEC_BOOL:
        value->number = *(const bool *)member;
        value->is_set = true;
        return true;
    case SPEC_I64:
        value->number = *(const int64_t *)member;
        value->is_set = setting->builtin != NULL || value->number != 0;
        return true;
    case SPEC_WORD:
        value->text = code_of(setting->codes, (int)*(const unsigned *)member);
        value->is_set = true;
        return true;
    case SPEC_STR:
        value->text = *(const struct str *)member;
        value->is_set = value->text.len > 0;
        return true;
    default:
        assert(into->kind == SPEC_TEXTS);
        return get_texts(arena, into, owner, value);
    }
}

/* ---- the stored form ---- */

void setting_write(struct arena *arena, const struct setting *setting,
                   const struct registry_value *value, struct json_writer *w)
{
    struct buf text;

    switch (setting_storage(setting)) {
    case REGISTRY_JSON:
        json_write_raw(w, value->text);
        return;
    case REGISTRY_BOOL:
        json_write_bool(w, value->number != 0);
        return;
    case REGISTRY_INT:
        json_write_i64(w, value->number);
        return;
    case REGISTRY_TEXT:
        json_write_str(w, value->text);
        return;
    case REGISTRY_DURATION:
    case REGISTRY_REAL:
        break;
    }
    buf_init(&text, arena, 256);
    setting_print(setting, value, &text);
    json_write_str(w, buf_str(&text));
    w->out->failed |= text.failed;
}

/* ---- all of them ---- */

struct str setting_group(const struct setting *setting)
{
    const struct str path = str_of(setting->path);
    const size_t dot = str_find_char(path, '.');

    return dot < path.len ? str_slice(path, 0, dot) : (struct str){ 0 };
}

void setting_writer_end(struct setting_writer *writer)
{
    if (writer->group.len > 0)
        json_write_end(writer->w);
    writer->group = (struct str){ 0 };
}

static void enter(struct setting_writer *writer, struct str group)
{
    if (str_eq(writer->group, group))
        return;
    setting_writer_end(writer);
    writer->group = group;
    if (group.len == 0)
        return;
    json_write_name(writer->w, group);
    json_write_object(writer->w);
}

void setting_writer_add(struct setting_writer *writer, const struct setting *setting,
                        const void *owner)
{
    struct registry_value value;

    if (!setting_get(writer->arena, setting, owner, &value))
        writer->w->out->failed = true;
    if (!value.is_set)
        return;
    enter(writer, setting_group(setting));
    json_write_name(writer->w, setting_name(setting));
    setting_write(writer->arena, setting, &value, writer->w);
}
