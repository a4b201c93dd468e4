/* Buckets of requests, in virtual time. */
#include <stdio.h>

#include "base/instant.h"
#include "serve/access.h"
#include "test.h"

TEST(a_bucket_gives_its_burst_then_its_rate)
{
    static struct throttle throttle = { .rate = 2, .burst = 3 };
    int64_t now_us = 1000;
    int allowed = 0;

    for (int i = 0; i < 10; i++)
        allowed += throttle_take(&throttle, STR("a"), now_us);
    CHECK_EQ(allowed, 3, "the burst");
    CHECK(throttle_take(&throttle, STR("b"), now_us), "another has its own");
    now_us += US_PER_SECOND / 2;
    CHECK(throttle_is_open(&throttle, STR("a"), now_us), "one more after half a second");
    CHECK(throttle_take(&throttle, STR("a"), now_us), "taken");
    CHECK(!throttle_take(&throttle, STR("a"), now_us), "and no other");
    now_us += 100 * US_PER_SECOND;
    allowed = 0;
    for (int i = 0; i < 10; i++)
        allowed += throttle_take(&throttle, STR("a"), now_us);
    CHECK_EQ(allowed, 3, "never more than the burst");
}

TEST(many_keys_push_out_the_oldest_only)
{
    static struct throttle throttle = { .rate = 0, .burst = 1 };
    char key[32];

    CHECK(throttle_take(&throttle, STR("old"), 1), "the first");
    for (int i = 0; i < THROTTLE_PLACES - 1; i++) {
        (void)snprintf(key, sizeof(key), "k%d", i);
        CHECK(throttle_take(&throttle, str_of(key), 2 + i), "each once");
    }
    CHECK(!throttle_take(&throttle, STR("k5"), 5000), "all are remembered");
    CHECK(throttle_take(&throttle, STR("new"), 6000), "one too many");
    CHECK(!throttle_take(&throttle, STR("k0"), 6001), "the second oldest is still known");
}

static const struct {
    const char *host;
    bool is_local;
} hosts[] = {
    { "localhost", true },          { "localhost:8470", true },   { "127.0.0.1:8470", true },
    { "[::1]:8470", true },         { "LOCALHOST", true },        { "", false },
    { "evil.example", false },      { "localhost.evil", false },  { "localhost:", false },
    { "localhost:0x50", false },    { "127.0.0.1.evil", false },  { "[::1]evil", false },
    { "evil@localhost:80", false }, { "localhost:70000", false }, { "127.0.0.12", false },
};

TEST(only_names_of_this_machine_are_local)
{
    for (size_t i = 0; i < ARRAY_LEN(hosts); i++)
        CHECK_EQ(access_host_is_local(str_of(hosts[i].host)), hosts[i].is_local, hosts[i].host);
}
