/* The table of the ways a request can fail, and its page in the manual. */
#include "data/http_fault.h"

#include <stdio.h>
#include <string.h>

#include "test.h"

/* The promise of the port, written a second time. */
static const struct {
    const char *code;
    enum error_level level;
} promised[] = {
    { "http.timeout.connect", ERROR_TRANSIENT },
    { "http.timeout.idle", ERROR_TRANSIENT },
    { "http.timeout.total", ERROR_TRANSIENT },
    { "http.dns", ERROR_TRANSIENT },
    { "http.connect", ERROR_TRANSIENT },
    { "http.proxy", ERROR_TRANSIENT },
    { "http.reset", ERROR_TRANSIENT },
    { "http.truncated", ERROR_TRANSIENT },
    { "http.encoding", ERROR_TRANSIENT },
    { "http.protocol", ERROR_TRANSIENT },
    { "http.handshake", ERROR_TRANSIENT },
    { "http.cancelled", ERROR_TRANSIENT },
    { "http.resource", ERROR_TRANSIENT },
    { "http.too_large", ERROR_REQUEST },
    { "http.inflate_limit", ERROR_REQUEST },
    { "http.header_limit", ERROR_REQUEST },
    { "http.redirect_refused", ERROR_REQUEST },
    { "http.url", ERROR_REQUEST },
    { "http.plain", ERROR_REQUEST },
    { "http.method", ERROR_REQUEST },
    { "http.header", ERROR_REQUEST },
    { "http.limit", ERROR_REQUEST },
    { "memory.limit", ERROR_REQUEST },
    { "http.tls", ERROR_FATAL },
    { "http.auth", ERROR_FATAL },
    { "http.module", ERROR_FATAL },
};

TEST(every_code_has_its_promised_level)
{
    CHECK_EQ(http_faults_count, ARRAY_LEN(promised), "none is missing, none is new");
    for (size_t i = 0; i < ARRAY_LEN(promised); i++) {
        const struct http_fault *fault = http_fault_find(promised[i].code);

        REQUIRE(fault != NULL, promised[i].code);
        CHECK_EQ(fault->level, promised[i].level, promised[i].code);
        CHECK(strlen(fault->meaning) > 0, promised[i].code);
    }
    CHECK(http_fault_find("http.nonsense") == NULL, "no other");
}

TEST(a_broken_body_spares_a_status_and_nothing_else_does)
{
    CHECK(http_fault_spares_status("http.reset"), "reset");
    CHECK(http_fault_spares_status("http.too_large"), "too large");
    CHECK(!http_fault_spares_status("http.cancelled"), "cancelled");
    CHECK(!http_fault_spares_status("http.header_limit"), "the head itself");
    CHECK(!http_fault_spares_status("memory.limit"), "memory");
}

TEST(operators_read_the_same)
{
    const struct str manual = test_read("docs/http.md");
    char row[300];

    REQUIRE(manual.data != NULL, "docs/http.md");
    for (size_t i = 0; i < http_faults_count; i++) {
        (void)snprintf(row, sizeof(row), "| `%s` | %s | %s |\n", http_faults[i].code,
                       error_level_name(http_faults[i].level), http_faults[i].meaning);
        CHECK(str_find(manual, str_of(row)) < manual.len, row);
    }
}

TEST(predicates_match_their_codes)
{
    static const char *const oversized[] = { "http.too_large", "http.inflate_limit",
                                             "memory.limit" };
    size_t found = 0;

    for (size_t i = 0; i < http_faults_count; i++) {
        const struct error err = { .code = http_faults[i].code };
        bool is_listed = false;

        for (size_t k = 0; k < ARRAY_LEN(oversized); k++)
            is_listed |= strcmp(err.code, oversized[k]) == 0;
        CHECK_EQ(http_error_is_oversized(&err), is_listed, err.code);
        CHECK_EQ(http_error_is_cancelled(&err), strcmp(err.code, "http.cancelled") == 0, err.code);
        found += is_listed;
    }
    CHECK_EQ(found, ARRAY_LEN(oversized), "all of them are faults");
}
