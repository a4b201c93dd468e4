#include "base/buf.h"

#include "test.h"

TEST(buf_placeholder)
{
    CHECK(true, "x");
}
