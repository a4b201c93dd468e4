/* Events of a source, from its rows. */
#include "spec/event_source.h"

#include "base/list.h"
#include "core/source_codes.h"
#include "spec/record_home.h"
#include "spec/source_views.h"

static const struct registry_value *value_of(const struct registry_row *row, const char *column)
{
    return &row->values[registry_column(row->table, str_of(column))];
}

static struct schema_message *message_of(struct arena *arena, struct event_schema *schema,
                                         struct str endpoint)
{
    struct schema_message *message;

    for (size_t i = 0; i < schema->messages.count; i++) {
        if (str_eq(schema->messages.items[i].name, endpoint))
            return &schema->messages.items[i];
    }
    message = LIST_ADD(arena, &schema->messages);
    if (message != NULL)
        *message = (struct schema_message){ .name = endpoint };
    return message;
}

/* The first one of a name counts, as for the views of records. */
static bool add(struct arena *arena, struct schema_message *message,
                const struct schema_field *field)
{
    struct schema_field *added;

    for (size_t i = 0; i < message->fields.count; i++) {
        if (str_eq(message->fields.items[i].name, field->name))
            return true;
    }
    added = LIST_ADD(arena, &message->fields);
    if (added != NULL)
        *added = *field;
    return added != NULL;
}

static bool add_fields(struct arena *arena, const struct source *source, struct str bearer,
                       struct schema_message *message)
{
    const struct registry_row *row = NULL;

    while ((row = source_next(source, REGISTRY_FIELD, bearer, STR("OUTPUT:"), row)) != NULL) {
        const struct schema_field field = {
            .name = arena_printf(arena, "fields.%.*s", STR_ARG(field_name(row))),
            .type = code_of(&FIELD_TYPE_CODES, (int)field_type_of(row)),
            .shape = field_is_list(row) ? SHAPE_LIST : SHAPE_ONE,
            .is_required = value_of(row, "required")->number != 0,
        };

        if (field.name.data == NULL || !add(arena, message, &field))
            return false;
    }
    return true;
}

static bool add_payload(struct arena *arena, const struct source *source, struct str bearer,
                        struct schema_message *message)
{
    const struct registry_row *endpoint = NULL;

    while ((endpoint = source_next_endpoint(source, endpoint)) != NULL) {
        if (str_eq(endpoint->endpoint, bearer) && value_of(endpoint, "event_payload")->number != 0)
            return add(arena, message,
                       &(struct schema_field){ .name = STR("payload"), .type = STR("ANY") });
    }
    return true;
}

static bool add_operations(struct arena *arena, const struct source *source,
                           struct event_schema *schema)
{
    const struct registry_row *operation = NULL;

    while ((operation = source_next_operation(source, operation)) != NULL) {
        const struct record_home home = record_home(source, operation);
        struct schema_message *message;

        if (home.endpoint.len == 0)
            continue;
        message = message_of(arena, schema,
                             str_eq(home.endpoint, home.bearer)
                                 ? home.endpoint
                                 : arena_printf(arena, "%.*s (from %.*s)", STR_ARG(home.endpoint),
                                                STR_ARG(home.bearer)));
        if (message == NULL || !add_fields(arena, source, home.bearer, message) ||
            !add_fields(arena, source, STR(""), message) || /* those of all endpoints */
            !add_payload(arena, source, home.bearer, message))
            return false;
    }
    return true;
}

bool event_source_schema(struct arena *arena, const struct source *source,
                         struct event_schema *schema, struct error *err)
{
    *schema = (struct event_schema){ .name = source->registry.code };
    return add_operations(arena, source, schema) || arena_error(arena, err);
}
