/* Lists of a snapshot, and the settings whose members fit none of the kinds: the parts of an id,
 * the shares of a quota, the reasons to take a record.
 */
#include <limits.h>
#include <string.h>

#include "spec/spec_reader.h"

void spec_put_list(void *owner, const struct spec_target *target, const void *items, size_t count)
{
    memcpy((char *)owner + target->offset, &items, sizeof(items)); /* a pointer to any type */
    memcpy((char *)owner + target->count_offset, &count, sizeof(count));
}

/* ---- one item ---- */

static void read_status(struct spec_reader *reader, struct json_node node, int *out)
{
    int64_t status;

    if (!json_i64(reader->doc, node, &status) || status < 0 || status > INT_MAX)
        spec_fail(reader, "contains something that is not a status");
    else
        *out = (int)status;
}

static void read_date_format(struct spec_reader *reader, struct json_node node,
                             const struct date_format **out)
{
    *out = date_format_find(spec_string(reader, node));
    if (*out == NULL)
        spec_fail(reader, "contains an unknown date format");
}

static size_t item_size(enum spec_kind kind)
{
    return kind == SPEC_TEXTS          ? sizeof(struct str)
           : kind == SPEC_STATUSES     ? sizeof(int)
           : kind == SPEC_DATE_FORMATS ? sizeof(const struct date_format *)
                                       : sizeof(struct spec_namespace);
}

static void read_item(struct spec_reader *reader, enum spec_kind kind, const struct json_iter *it,
                      void *item)
{
    switch (kind) {
    case SPEC_TEXTS:
        *(struct str *)item = spec_string(reader, it->value);
        break;
    case SPEC_STATUSES:
        read_status(reader, it->value, item);
        break;
    case SPEC_DATE_FORMATS:
        read_date_format(reader, it->value, item);
        break;
    default:
        *(struct spec_namespace *)item = (struct spec_namespace){ spec_string(reader, it->name),
                                                                  spec_string(reader, it->value) };
        break;
    }
}

void spec_read_list(struct spec_reader *reader, const struct spec_target *target,
                    struct json_node node, void *owner)
{
    const enum json_type wanted = target->kind == SPEC_NAMESPACES ? JSON_OBJECT : JSON_ARRAY;
    const size_t size = item_size(target->kind), count = json_count(reader->doc, node);
    struct json_iter it;
    char *items;

    if (json_type(reader->doc, node) != wanted && (json_exists(node) || wanted == JSON_OBJECT))
        spec_fail(reader, wanted == JSON_OBJECT ? "is not a map" : "is not a list");
    items = arena_alloc_array(reader->arena, count, size);
    if (items == NULL) {
        spec_fail_memory(reader);
        return;
    }
    for (it = json_each(reader->doc, node); json_next(&it);)
        read_item(reader, target->kind, &it, items + it.index * size);
    spec_put_list(owner, target, items, count);
}

/* ---- readers of their own ---- */

struct path_list {
    struct spec_path *items;
    size_t most;
    size_t *count;
};

static void add_path(struct spec_reader *reader, struct json_node node,
                     const struct path_list *paths)
{
    if (*paths->count == paths->most)
        spec_fail(reader, "has too many paths");
    else
        paths->items[(*paths->count)++] = spec_path(reader, spec_string(reader, node));
}

/* One path, or a list of them. */
static void read_paths(struct spec_reader *reader, struct json_node node,
                       const struct path_list *paths)
{
    struct json_iter it;

    if (json_type(reader->doc, node) == JSON_STRING) {
        add_path(reader, node, paths);
        return;
    }
    for (it = json_each(reader->doc, node); json_next(&it) && !reader->failed;)
        add_path(reader, it.value, paths);
}

void spec_read_id(struct spec_reader *reader, struct json_node node, void *endpoint)
{
    struct spec_response *response = &((struct spec_endpoint *)endpoint)->response;

    read_paths(reader, node,
               &(struct path_list){ response->id, SPEC_ID_PARTS_MAX, &response->id_count });
}

void spec_read_updated_at(struct spec_reader *reader, struct json_node node, void *endpoint)
{
    struct spec_response *response = &((struct spec_endpoint *)endpoint)->response;

    read_paths(reader, node,
               &(struct path_list){ response->updated_at, SPEC_DATE_PATHS_MAX,
                                    &response->updated_at_count });
}

/* {"HARVEST":60}: an operation without a share may use all of the quota. */
void spec_read_shares(struct spec_reader *reader, struct json_node node, void *endpoint)
{
    int *shares = ((struct spec_endpoint *)endpoint)->rate.quota_shares;

    if (json_type(reader->doc, node) != JSON_OBJECT)
        spec_fail(reader, "is missing");
    for (int i = 0; i <= OPERATION_REPLAY; i++) {
        const struct json_node share = json_get(reader->doc, node, code_of(&OPERATION_CODES, i));
        int64_t number = 100;

        if (json_exists(share) && !json_i64(reader->doc, share, &number))
            spec_fail(reader, "has a share that is not a whole number");
        shares[i] = (int)number;
    }
}

/* A list of words, each of which sets its flag. */
static void read_flags(struct spec_reader *reader, const struct code_table *codes,
                       struct json_node node, bool *flags)
{
    struct json_iter it;

    for (it = json_each(reader->doc, node); json_next(&it);) {
        const int value = code_find(codes, spec_string(reader, it.value));

        if (value < 0)
            spec_fail(reader, "contains an unknown word");
        else
            flags[value] = true;
    }
}

void spec_read_absent(struct spec_reader *reader, struct json_node node, void *endpoint)
{
    read_flags(reader, &RESPONSE_PART_CODES, node,
               ((struct spec_endpoint *)endpoint)->response.may_be_absent);
}

void spec_read_candidates(struct spec_reader *reader, struct json_node node, void *operation)
{
    read_flags(reader, &CANDIDATE_SOURCE_CODES, node,
               ((struct spec_operation *)operation)->candidates);
}

/* "selects": the hash of the value in a plan; true or false where no value was read. */
void spec_read_selects(struct spec_reader *reader, struct json_node node, void *value)
{
    if (json_type(reader->doc, node) == JSON_STRING)
        ((struct spec_value *)value)->selects = spec_string(reader, node);
    else if (json_exists(node) && json_type(reader->doc, node) != JSON_BOOL)
        spec_fail(reader, "is neither a hash nor true nor false");
}
