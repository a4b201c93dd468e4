/* Tests: the error level of each HTTP status. */
#include "core/http_status.h"

#include <stdio.h>

#include "test.h"

TEST(statuses_have_levels)
{
    static const int declared[] = { 408, 423 };
    static const struct {
        int status;
        enum error_level level;
    } rows[] = {
        { 200, ERROR_NONE },      { 204, ERROR_NONE },      { 304, ERROR_NONE },
        { 301, ERROR_REQUEST },   { 302, ERROR_REQUEST },   { 400, ERROR_REQUEST },
        { 401, ERROR_FATAL },     { 403, ERROR_REQUEST },   { 404, ERROR_REQUEST },
        { 407, ERROR_FATAL },     { 408, ERROR_TRANSIENT }, { 409, ERROR_REQUEST },
        { 422, ERROR_REQUEST },   { 423, ERROR_TRANSIENT }, { 429, ERROR_TRANSIENT },
        { 500, ERROR_TRANSIENT }, { 502, ERROR_TRANSIENT }, { 503, ERROR_TRANSIENT },
        { 504, ERROR_TRANSIENT }, { 599, ERROR_TRANSIENT }, { 600, ERROR_REQUEST },
        { 0, ERROR_REQUEST },     { 100, ERROR_REQUEST },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char label[16];

        (void)snprintf(label, sizeof(label), "%d", rows[i].status);
        CHECK_EQ(http_status_level(rows[i].status, declared, 2), rows[i].level, label);
    }
    CHECK_EQ(http_status_level(408, NULL, 0), ERROR_REQUEST, "408 has to be declared");
}
