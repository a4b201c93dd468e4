#include "base/arena.h"

#include "test.h"

TEST(arena_placeholder)
{
    CHECK(true, "x");
}
