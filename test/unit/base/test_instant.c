#include "base/instant.h"

#include "test.h"

TEST(instant_placeholder)
{
    CHECK(true, "x");
}
