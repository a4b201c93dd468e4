/* Which member of the records is their id, and which their date. */
#include "base/attr.h"
#include "base/quote.h"
#include "data/date.h"
#include "engine/guess/guess_parts.h"
#include "engine/guess/guess_words.h"

enum {
    FIELDS_MAX = 400,
    VALUE_BYTES_MAX = 200,
    ID_POINTS_LEAST = 4,
    DATE_POINTS_LEAST = 3,
};
#define DATE_EARLIEST_US (INT64_C(631152000) * 1000000) /* 1990 */
#define DATE_LATEST_US (INT64_C(4102444800) * 1000000)  /* 2100 */

static const struct guess_word ID_NAMES[] = {
    { "id", 10 },      { "identifier", 9 }, { "uid", 9 },      { "uuid", 9 },
    { "guid", 9 },     { "doi", 8 },        { "pmid", 8 },     { "accession", 7 },
    { "key", 5 },      { "handle", 4 },     { "uri", 3 },      { "code", 3 },
    { "url", 2 },      { "number", 2 },     { "href", 1 },     { "type", -10 },
    { "version", -8 }, { "parent", -6 },    { "related", -6 }, { "org", -4 },
    { "author", -6 },  { "publisher", -6 }, { "journal", -6 }, { "owner", -6 },
    { "user", -6 },    { "primary", -2 },   { "count", -8 },   { "secondary", -6 },
    { "issn", -4 },    { "status", -8 },    { NULL, 0 },
};

static const struct guess_word DATE_NAMES[] = {
    { "updated", 10 },    { "update", 8 },     { "modified", 10 },  { "modification", 8 },
    { "changed", 9 },     { "change", 7 },     { "datestamp", 10 }, { "revised", 9 },
    { "revision", 8 },    { "indexed", 9 },    { "index", 6 },      { "edited", 7 },
    { "deposited", 4 },   { "last", 2 },       { "date", 3 },       { "datetime", 3 },
    { "time", 2 },        { "timestamp", 2 },  { "at", 1 },         { "post", 2 },
    { "posted", 2 },      { "created", -4 },   { "creation", -4 },  { "first", -9 },
    { "submit", -2 },     { "submitted", -2 }, { "published", -5 }, { "publication", -6 },
    { "issued", -5 },     { "received", -4 },  { "accepted", -4 },  { "registered", -4 },
    { "start", -7 },      { "end", -7 },       { "expires", -9 },   { "completed", -5 },
    { "completion", -7 }, { "embargo", -7 },   { "journal", -7 },   { "print", -7 },
    { "electronic", -7 }, { "online", -4 },    { "verified", -3 },  { "birth", -9 },
    { "event", -5 },      { "status", -8 },    { "check", -6 },     { "checked", -6 },
    { "release", -3 },    { NULL, 0 },
};

struct field {
    const struct guess_node *node; /* in the first item that has it */
    struct str path;
    struct str values[GUESS_SAMPLES_MAX];
    size_t present;
    bool is_number, is_bool, is_parts;
};

struct fields {
    struct field *items;
    size_t count;
    size_t samples; /* items that were looked at */
};

/* ---- collecting ---- */

/* Year, Month and Day as three elements or members. */
static bool is_date_parts(const struct guess_node *node)
{
    static const struct str names[] = { STR_INIT("year"), STR_INIT("month"), STR_INIT("day") };
    size_t found = 0, members = 0;

    if (node->shape != SHAPE_OBJECT)
        return false;
    for (const struct guess_node *at = node->first; at != NULL; at = at->next) {
        members += !at->is_attribute;
        for (size_t i = 0; i < ARRAY_LEN(names); i++)
            found += !at->is_attribute && str_eq_nocase(at->name, names[i]) && guess_is_scalar(at);
    }
    return found == ARRAY_LEN(names) && members >= found;
}

static struct str parts_text(struct guess_tree *tree, const struct guess_node *node)
{
    struct str parts[3] = { 0 };
    static const char first[] = "ymd";

    for (const struct guess_node *at = node->first; at != NULL; at = at->next) {
        for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
            if (!at->is_attribute && at->name.len > 0 && (at->name.data[0] | 0x20) == first[i] &&
                parts[i].data == NULL)
                parts[i] = at->text;
        }
    }
    return arena_printf(tree->arena, "%.*s%.*s%.*s", STR_ARG(parts[0]), STR_ARG(parts[1]),
                        STR_ARG(parts[2]));
}

static struct field *field_of(struct guess_tree *tree, struct fields *fields,
                              const struct guess_node *node, const struct guess_node *item)
{
    const struct str path = guess_path(tree, node, item);

    for (size_t i = 0; i < fields->count; i++) {
        if (str_eq(fields->items[i].path, path))
            return &fields->items[i];
    }
    if (fields->count == FIELDS_MAX || path.len == 0)
        return NULL;
    fields->items[fields->count] = (struct field){ .node = node, .path = path };
    return &fields->items[fields->count++];
}

static void take(struct guess_tree *tree, struct fields *fields, const struct guess_node *node,
                 const struct guess_node *item)
{
    const bool is_parts = is_date_parts(node) && tree->guess->is_xml;
    const struct str text = is_parts ? parts_text(tree, node) : str_trim(node->text);
    struct field *field;

    if ((!guess_is_scalar(node) && !is_parts) || text.len == 0 || node->shape == SHAPE_NULL)
        return;
    field = field_of(tree, fields, node, item);
    if (field == NULL || field->present == GUESS_SAMPLES_MAX)
        return;
    field->is_number |= node->shape == SHAPE_NUMBER;
    field->is_bool |= node->shape == SHAPE_BOOL;
    field->is_parts |= is_parts;
    field->values[field->present++] = text;
}

static void take_item(struct guess_tree *tree, struct fields *fields, const struct guess_node *item)
{
    fields->samples++;
    for (struct guess_node *at = (struct guess_node *)item; at != NULL;) {
        if (at->shape != SHAPE_LIST)
            take(tree, fields, at, item);
        /* What is in a list belongs to the record in some other way. */
        if (at->shape == SHAPE_LIST || at->first == NULL || guess_depth(at, item) > 5) {
            while (at != item && at->next == NULL)
                at = at->parent;
            at = at == item ? NULL : at->next;
        } else
            at = at->first;
    }
}

static bool collect(struct guess_tree *tree, const struct guess_node *list, struct fields *fields)
{
    *fields = (struct fields){ .items = ARENA_ARRAY(tree->arena, struct field, FIELDS_MAX) };
    if (fields->items == NULL)
        return false;
    if (list->shape != SHAPE_LIST)
        take_item(tree, fields, list);
    for (const struct guess_node *at = list->first; list->shape == SHAPE_LIST && at != NULL;
         at = at->next) {
        if (at->shape != SHAPE_NULL)
            take_item(tree, fields, at);
    }
    return true;
}

/* ---- ids ---- */

static bool are_different(const struct field *field)
{
    for (size_t i = 0; i < field->present; i++) {
        for (size_t j = 0; j < i; j++) {
            if (str_eq(field->values[i], field->values[j]))
                return false;
        }
    }
    return true;
}

static bool is_one_value(const struct field *field)
{
    for (size_t i = 1; i < field->present; i++) {
        if (!str_eq(field->values[i], field->values[0]))
            return false;
    }
    return true;
}

static bool is_one_length(const struct field *field)
{
    for (size_t i = 1; i < field->present; i++) {
        if (field->values[i].len != field->values[0].len)
            return false;
    }
    return true;
}

static bool has_blank(const struct field *field)
{
    for (size_t i = 0; i < field->present; i++) {
        if (str_find_char(field->values[i], ' ') < field->values[i].len ||
            field->values[i].len > VALUE_BYTES_MAX)
            return true;
    }
    return false;
}

/* A member beside an id that is not unique, which together with it is: version, source. */
static const struct field *second_part(const struct fields *fields, const struct field *id)
{
    static const struct str names[] = { STR_INIT("version"), STR_INIT("source") };

    for (size_t i = 0; i < fields->count; i++) {
        const struct field *field = &fields->items[i];

        for (size_t j = 0; j < ARRAY_LEN(names); j++) {
            if (str_eq_nocase(field->node->name, names[j]) &&
                str_eq(field->node->parent->name, id->node->parent->name) &&
                guess_depth(field->node, NULL) == guess_depth(id->node, NULL) &&
                field->present == fields->samples && id->present == fields->samples)
                return field;
        }
    }
    return NULL;
}

static bool are_pairs_different(const struct field *id, const struct field *second)
{
    for (size_t i = 0; second != NULL && i < id->present; i++) {
        for (size_t j = 0; j < i; j++) {
            if (str_eq(id->values[i], id->values[j]) &&
                str_eq(second->values[i], second->values[j]))
                return false;
        }
    }
    return second != NULL;
}

static int id_points(const struct fields *fields, const struct field *field,
                     const struct guess_node *item)
{
    const struct guess_words all = guess_words_of(field->node, item);
    struct guess_words own = { 0 };
    size_t known;
    int points;

    if (field->is_bool || field->is_parts || has_blank(field))
        return -1;
    guess_words_add(&own, field->node->name);
    points = guess_words_points(&own, ID_NAMES, &known) - (int)(own.count - known);
    if (known == 0 || points <= 0)
        return -1;
    for (size_t i = 0; ID_NAMES[i].word != NULL; i++) { /* of whom it is the id */
        if (ID_NAMES[i].points < 0 && guess_words_have(&all, ID_NAMES[i].word) &&
            !guess_words_have(&own, ID_NAMES[i].word))
            points += ID_NAMES[i].points;
    }
    points -= guess_depth(field->node, item) - 1;
    points -= field->node->is_attribute ? 2 : 0;
    points += is_one_length(field) && field->present > 1;
    points -= field->present < fields->samples ? 6 : 0;
    if (!are_different(field))
        points -= are_pairs_different(field, second_part(fields, field)) ? 1 : 6;
    return points;
}

/* ---- dates ---- */

/* The first of these that reads all values. Epochs are believed in a century only. */
static const struct date_format *format_of(const struct field *field)
{
    static const struct str names[] = { STR_INIT("rfc3339"), STR_INIT("datetime"),
                                        STR_INIT("date"),    STR_INIT("ncbi"),
                                        STR_INIT("rfc822"),  STR_INIT("epoch_ms"),
                                        STR_INIT("epoch_s"), STR_INIT("compact") };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const struct date_format *format = date_format_find(names[i]);
        size_t read = 0;
        struct date date;

        while (read < field->present && format->read(field->values[read], &date) &&
               date.at_us >= DATE_EARLIEST_US && date.at_us < DATE_LATEST_US)
            read++;
        if (read == field->present)
            return format;
    }
    return NULL;
}

static int date_points(const struct fields *fields, const struct field *field,
                       const struct guess_node *item)
{
    const struct guess_words words = guess_words_of(field->node, item);
    const struct date_format *format = format_of(field);
    int points = guess_words_points(&words, DATE_NAMES, NULL);
    struct date date;

    if (format == NULL || field->is_bool || points <= 0)
        return -1;
    points -= guess_depth(field->node, item) - 1;
    points -= field->present < fields->samples ? 3 : 0;
    points += format->read(field->values[0], &date) && date.precision > DATE_DAY;
    return points;
}

/* ---- choosing ---- */

typedef int points_function(const struct fields *fields, const struct field *field,
                            const struct guess_node *item);

struct choice {
    const struct field *field;
    int points;
    int lead;
};

static const struct guess_node *item_of(const struct guess_node *list, const struct field *field)
{
    const struct guess_node *at = field->node;

    while (at->parent != NULL && at != list && at->parent != list)
        at = at->parent;
    return list->shape == SHAPE_LIST ? at : list;
}

static struct choice choose(const struct fields *fields, const struct guess_node *list,
                            points_function *points_of, int least)
{
    struct choice best = { NULL, least - 1, 0 };
    int second = 0;

    for (size_t i = 0; i < fields->count; i++) {
        const struct field *field = &fields->items[i];
        const int points = points_of(fields, field, item_of(list, field));

        if (points > best.points) {
            second = best.points;
            best = (struct choice){ field, points, 0 };
        } else if (points > second)
            second = points;
    }
    best.lead = best.points - second;
    return best;
}

int guess_fields_points(struct guess_tree *tree, const struct guess_node *list)
{
    struct fields fields;
    int points = 0;

    if (!collect(tree, list, &fields))
        return 0;
    points += choose(&fields, list, id_points, ID_POINTS_LEAST).field != NULL ? 4 : 0;
    points += choose(&fields, list, date_points, DATE_POINTS_LEAST).field != NULL ? 2 : 0;
    return points;
}

static struct str told(struct guess_tree *tree, const struct fields *fields,
                       const struct field *field, const char *what)
{
    return arena_printf(tree->arena, "in %zu of %zu items%s, such as %s", field->present,
                        fields->samples, what, QUOTE(field->values[0]));
}

static void tell_id(struct guess_tree *tree, const struct fields *fields,
                    const struct guess_node *list)
{
    const struct choice best = choose(fields, list, id_points, ID_POINTS_LEAST);
    struct guess *guess = tree->guess;
    const struct field *second;

    if (best.field == NULL)
        return;
    guess->id = (struct guess_found){
        .certainty = guess_certainty_of(best.points, best.lead),
        .path = best.field->path,
        .why = told(tree, fields, best.field,
                    are_different(best.field) ? ", all different" : ", but not all different"),
    };
    second = second_part(fields, best.field);
    if (second == NULL)
        return;
    if (are_different(best.field))
        guess->id_hint = is_one_value(second) ? STR("") : second->path;
    else
        guess->id_second = second->path;
}

/* The three elements one after the other are a date of format compact. */
static struct str parts_path(struct guess_tree *tree, const struct field *field,
                             const struct guess_node *item)
{
    struct str paths[3] = { 0 };
    static const char first[] = "ymd";

    for (const struct guess_node *at = field->node->first; at != NULL; at = at->next) {
        for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
            if (!at->is_attribute && (at->name.data[0] | 0x20) == first[i] && paths[i].data == NULL)
                paths[i] = guess_path(tree, at, item);
        }
    }
    return arena_printf(tree->arena, "concat(%.*s, %.*s, %.*s)", STR_ARG(paths[0]),
                        STR_ARG(paths[1]), STR_ARG(paths[2]));
}

static void tell_date(struct guess_tree *tree, const struct fields *fields,
                      const struct guess_node *list)
{
    const struct choice best = choose(fields, list, date_points, DATE_POINTS_LEAST);
    struct guess *guess = tree->guess;

    if (best.field == NULL)
        return;
    guess->updated_at = (struct guess_found){
        .certainty = guess_certainty_of(best.points, best.lead),
        .path = best.field->is_parts ? parts_path(tree, best.field, item_of(list, best.field))
                                     : best.field->path,
        .why = told(tree, fields, best.field, ""),
    };
    guess->date_format = str_of(format_of(best.field)->name);
    guess->is_date_everywhere = best.field->present == fields->samples;
}

/* deleted: true, or <header status="deleted">. */
static void tell_deleted(struct guess_tree *tree, const struct fields *fields)
{
    for (size_t i = 0; i < fields->count && tree->guess->deleted.len == 0; i++) {
        const struct field *field = &fields->items[i];
        struct guess_words own = { 0 };

        guess_words_add(&own, field->node->name);
        if (field->is_bool && guess_words_have(&own, "deleted"))
            tree->guess->deleted = field->path;
    }
}

void guess_fields(struct guess_tree *tree, const struct guess_node *items)
{
    struct fields fields;

    if (!collect(tree, items, &fields))
        return;
    if (tree->guess->are_ids) {
        tree->guess->id = (struct guess_found){
            .certainty = GUESS_SURE,
            .path = tree->guess->is_xml ? STR(".") : STR("$"),
            .why = STR("the items are texts or numbers, not records"),
        };
        return;
    }
    tell_id(tree, &fields, items);
    tell_date(tree, &fields, items);
    tell_deleted(tree, &fields);
}
