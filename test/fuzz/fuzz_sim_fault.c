/* Any bytes as a line of a fault plan: refused, or a rule that can be applied to any request. */
#include <assert.h>
#include <stdint.h>

#include "sim/fault/fault_rule.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const struct http_call call = { .method = STR("GET"), .path = STR("/x") };
    struct fault_rule rule;
    struct error err;

    if (!fault_rule_parse(&rule, (struct str){ (const char *)bytes, size }, &err)) {
        assert(err.level == ERROR_REQUEST);
        return 0;
    }
    assert(fault_name(&rule.fault)[0] != '\0');
    assert(rule.fault.code >= 200 && rule.fault.code <= 599);
    assert(rule.fault.keep >= 0 && rule.fault.keep <= 100);
    (void)fault_rule_matches(&rule, &call, false);
    for (int64_t n = 1; n < 5; n++)
        assert(fault_rule_is_due(&rule, 1, 0, n) == fault_rule_is_due(&rule, 1, 0, n));
    return 0;
}
