#include "base/str.h"

#include "test.h"

TEST(str_placeholder)
{
    CHECK(true, "x");
}
