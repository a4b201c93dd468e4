/* The walk through a snapshot, led by the table of settings: each row says where the snapshot has
 * its value and which member of struct spec receives it.
 */
#include "spec/spec.h"

#include <string.h>

#include "spec/snapshot.h"
#include "spec/spec_bounds.h"
#include "spec/spec_reader.h"

static struct str last_part(const char *path)
{
    const char *dot = strrchr(path, '.');

    return str_of(dot != NULL ? dot + 1 : path);
}

/* The object that has the path's last part: "auth.oauth2" for "auth.oauth2.token_ttl". Settings of
 * a group are adjacent in the table, so it is usually that of the path before. */
static struct json_node group_of(struct spec_reader *reader, struct json_node object,
                                 struct str group)
{
    struct str rest = group;

    if (group.len == 0)
        return object;
    if (object.at == reader->root.at && str_eq(group, reader->group_path))
        return reader->group;
    reader->root = object;
    reader->group_path = group;
    while (rest.len > 0)
        object = json_get(reader->doc, object, str_cut(&rest, '.'));
    if (json_type(reader->doc, object) != JSON_OBJECT)
        spec_fail(reader, "cannot be read: its group is missing");
    reader->group = object;
    return object;
}

/* The value of a path, whose last part is called `member` in the snapshot. */
static struct json_node member_of(struct spec_reader *reader, struct json_node object,
                                  const char *path, struct str member)
{
    const struct str whole = str_of(path);
    const size_t dot = whole.len - last_part(path).len;

    reader->path = path;
    object = group_of(reader, object, str_slice(whole, 0, dot > 0 ? dot - 1 : 0));
    return json_get(reader->doc, object, member);
}

static void read_setting(struct spec_reader *reader, const struct setting *setting,
                         struct json_node object, void *owner)
{
    char member[SETTING_MEMBER_MAX];
    const struct str name = setting_member(setting, member);

    spec_read_value(reader, setting, member_of(reader, object, setting->path, name), owner);
}

static struct str read_name(struct spec_reader *reader, struct json_node object, const char *path)
{
    const struct str name = spec_string(reader, member_of(reader, object, path, last_part(path)));

    if (name.len == 0)
        spec_fail(reader, "is empty");
    return name;
}

/* ---- sets ---- */

/* A string instead of an object is the value of the short setting. */
static void read_item(struct spec_reader *reader, const struct setting_set *set,
                      const struct setting *first, struct json_node node, void *item)
{
    const bool is_short = json_type(reader->doc, node) == JSON_STRING;
    const struct setting *setting = first;
    char member[SETTING_MEMBER_MAX];

    for (; setting != NULL; setting = setting_set_next(set, setting)) {
        if (!is_short)
            spec_read_value(reader, setting,
                            json_get(reader->doc, node, setting_member(setting, member)), item);
        else if (setting->is_short)
            spec_read_value(reader, setting, node, item);
    }
}

static void read_set(struct spec_reader *reader, const struct setting_set *set,
                     struct json_node root, void *owner)
{
    const bool is_list = set->layout == SET_LIST || set->layout == SET_RULES;
    const struct json_node node = member_of(reader, root, set->path, last_part(set->path));
    const struct setting *first = setting_set_next(set, NULL);
    const size_t count = json_count(reader->doc, node);
    char *items = arena_alloc_array(reader->arena, count, set->item_size);
    struct json_iter it;

    if (is_list && json_exists(node) && json_type(reader->doc, node) != JSON_ARRAY)
        spec_fail(reader, "is not a list");
    if (!is_list && json_type(reader->doc, node) != JSON_OBJECT)
        spec_fail(reader, "is missing");
    if (items == NULL) {
        spec_fail_memory(reader);
        return;
    }
    for (it = json_each(reader->doc, node); json_next(&it);) {
        char *item = items + it.index * set->item_size;

        reader->path = set->path;
        if (set->layout == SET_LIST)
            *(struct str *)(void *)item =
                spec_string(reader, json_get(reader->doc, it.value, STR("name")));
        else if (!is_list)
            *(struct str *)(void *)item = spec_string(reader, it.name);
        read_item(reader, set, first, it.value, item);
    }
    spec_put_list(owner, &set->into, items, count);
}

/* ---- a level ---- */

static bool is_read(const struct spec_reader *reader, const struct setting *setting,
                    enum setting_level level)
{
    return (setting->at & level) != 0 && strchr(setting->path, '*') == NULL &&
           (setting->into.kind != SPEC_NOWHERE || setting->into.read != NULL) &&
           !(reader->is_detail && !setting_is_in_detail(setting));
}

static void read_level(struct spec_reader *reader, enum setting_level level,
                       struct json_node object, void *owner)
{
    for (const struct setting *setting = SETTINGS; setting < SETTINGS + SETTING_COUNT; setting++) {
        if (is_read(reader, setting, level))
            read_setting(reader, setting, object, owner);
    }
    for (size_t i = 0; i < SETTING_SET_COUNT; i++) {
        if (SETTING_SETS[i].level == level)
            read_set(reader, &SETTING_SETS[i], object, owner);
    }
}

static void read_endpoint(struct spec_reader *reader, struct json_node object,
                          struct spec_endpoint *out)
{
    const struct setting *format = setting_find(AT_ENDPOINT, STR("response.format"));

    out->name = read_name(reader, object, "endpoint");
    /* The format comes first: paths depend on it. */
    read_setting(reader, format, object, out);
    reader->format = out->response.format;
    read_level(reader, AT_ENDPOINT, object, out);
    out->window.mode = out->window.align == ALIGN_NONE ? WINDOW_SLIDING : WINDOW_CALENDAR;
    spec_bounds_find(out);
}

/* ---- several credentials ---- */

static bool is_before(const struct spec_credential *a, const struct spec_credential *b)
{
    return a->priority != b->priority ? a->priority < b->priority : str_cmp(a->name, b->name) < 0;
}

/* By priority, then by name. There are few. */
static void sort_credentials(struct spec_credential *items, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const struct spec_credential item = items[i];
        size_t at = i;

        for (; at > 0 && is_before(&item, &items[at - 1]); at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

static void use_credential(struct spec_endpoint *endpoint, const struct spec_credential *credential)
{
    struct spec_auth *auth = &endpoint->auth;
    struct spec_rate *rate = &endpoint->rate;

    endpoint->credential = credential->name;
    auth->secret = credential->secret;
    auth->username = credential->username;
    auth->password = credential->password;
    auth->client_id = credential->client_id;
    auth->client_secret = credential->client_secret;
    if (credential->limit.per_second > 0)
        rate->with_credential.per_second = credential->limit.per_second;
    if (credential->limit.burst > 0)
        rate->with_credential.burst = credential->limit.burst;
    if (credential->limit.concurrency > 0)
        rate->with_credential.concurrency = credential->limit.concurrency;
    if (credential->quota_day > 0)
        rate->quota_day = credential->quota_day;
    if (credential->quota_hour > 0)
        rate->quota_hour = credential->quota_hour;
}

/* An endpoint with a credential of its own, or without any, does not use those of the source. */
static bool takes_credentials(const struct spec *spec, const struct spec_endpoint *endpoint)
{
    const struct spec_auth *auth = &endpoint->auth;

    return spec->credential_count > 0 && auth->type != AUTH_NONE && auth->secret.len == 0 &&
           auth->username.len == 0 && auth->client_id.len == 0;
}

static void give_credentials(struct spec_reader *reader, const struct spec *spec,
                             struct spec_endpoint *endpoint)
{
    struct spec_endpoint *variants;

    if (!takes_credentials(spec, endpoint))
        return;
    variants = ARENA_ARRAY(reader->arena, struct spec_endpoint, spec->credential_count);
    if (variants == NULL) {
        spec_fail_memory(reader);
        return;
    }
    for (size_t i = 0; i < spec->credential_count; i++) {
        variants[i] = *endpoint;
        use_credential(&variants[i], &spec->credentials[i]);
    }
    use_credential(endpoint, &spec->credentials[0]);
    endpoint->variants = variants;
    endpoint->variant_count = spec->credential_count;
}

static void read_credentials(struct spec_reader *reader, struct json_node root, struct spec *spec)
{
    if (!json_exists(json_get(reader->doc, root, STR("credentials"))))
        return;
    read_set(reader, setting_set(AT_SOURCE, STR("credentials")), root, spec);
    if (!reader->failed)
        sort_credentials((struct spec_credential *)spec->credentials, spec->credential_count);
}

bool spec_read(struct arena *arena, struct str json, struct spec *spec, struct error *err)
{
    struct spec_reader reader = { .arena = arena, .err = err, .path = "version" };
    struct json_node root, operation;
    struct json_doc doc;
    int64_t version;

    *spec = (struct spec){ 0 };
    if (!json_parse(&doc, arena, json, err))
        return arena->failed ? error_wrap(err, "snapshot")
                             : error_set(err, ERROR_FATAL, "spec.unreadable",
                                         "snapshot: the text is not JSON");
    reader.doc = &doc;
    root = json_root(&doc);
    if (!json_i64(&doc, json_get(&doc, root, STR("version")), &version) ||
        version != SNAPSHOT_VERSION) {
        spec_fail(&reader, "is not one that this patra knows");
        return false;
    }
    spec->source = read_name(&reader, root, "source");
    operation = json_get(&doc, root, STR("operation"));
    spec->operation.name = read_name(&reader, root, "operation.name");
    read_level(&reader, AT_OPERATION, operation, &spec->operation);
    read_set(&reader, setting_set(AT_SOURCE, STR("params")), root, spec);
    read_credentials(&reader, root, spec);
    read_endpoint(&reader, root, &spec->endpoint);
    give_credentials(&reader, spec, &spec->endpoint);
    spec->is_two_phase = json_exists(json_get(&doc, root, STR("detail")));
    reader.is_detail = true;
    if (spec->is_two_phase) {
        read_endpoint(&reader, json_get(&doc, root, STR("detail")), &spec->detail);
        give_credentials(&reader, spec, &spec->detail);
    }
    return !reader.failed;
}
