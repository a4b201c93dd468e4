/* derive: defaults that depend on the operation or on the endpoint's role.
 *
 * The table of settings names these functions in its rows (struct setting, `derive`). Each returns
 * a value that is not set where there is no default: for operation settings, when no operation is
 * resolved or its kind is unknown.
 */
#ifndef PATRA_SPEC_DERIVE_H
#define PATRA_SPEC_DERIVE_H

#include "core/registry.h"

struct resolution;

struct registry_value derive_operation(const struct resolution *resolution);
struct registry_value derive_priority(const struct resolution *resolution);
struct registry_value derive_namespace(const struct resolution *resolution);
struct registry_value derive_direction(const struct resolution *resolution);
struct registry_value derive_drive(const struct resolution *resolution);
struct registry_value derive_cursor(const struct resolution *resolution);
struct registry_value derive_slice(const struct resolution *resolution);
struct registry_value derive_id_batch_size(const struct resolution *resolution);
struct registry_value derive_candidates(const struct resolution *resolution);
struct registry_value derive_page_type(const struct resolution *resolution);

#endif
