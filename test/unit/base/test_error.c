#include "base/error.h"

#include "test.h"

TEST(error_placeholder)
{
    CHECK(true, "x");
}
