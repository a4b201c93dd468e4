#include "base/log.h"

#include "test.h"

TEST(log_placeholder)
{
    CHECK(true, "x");
}
