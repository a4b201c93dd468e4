/* source_views: the views of records that a source has (core/record_view.h).
 *
 * There is a view for each endpoint under which records are stored. Its columns are the fields of
 * all endpoints whose responses become its records: those of the endpoint that lists them first.
 */
#ifndef PATRA_SPEC_SOURCE_VIEWS_H
#define PATRA_SPEC_SOURCE_VIEWS_H

#include "base/attr.h"
#include "base/error.h"
#include "core/record_view.h"
#include "spec/source.h"

bool source_views(struct arena *arena, const struct source *source, struct record_view_list *views,
                  struct error *err) MUST_CHECK;

/* The field of a row OUTPUT:NAME. */
struct str field_name(const struct registry_row *row);
enum field_type field_type_of(const struct registry_row *row);
bool field_is_list(const struct registry_row *row);

#endif
