/* SHA-256 and HMAC against published values. */
#include "data/hash.h"

#include <string.h>

#include "test.h"

static struct str hex_of(const struct hash_sum *sum, char hex[HASH_HEX_MAX])
{
    hash_hex(sum, hex);
    return str_of(hex);
}

/* FIPS 180-4's examples. */
static const struct {
    const char *message;
    const char *hex;
} sums[] = {
    { "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
    { "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
    { "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
};

TEST(hash_gives_the_sums_of_the_standard)
{
    for (size_t i = 0; i < ARRAY_LEN(sums); i++) {
        struct hash_sum sum;
        struct error err;
        char hex[HASH_HEX_MAX];

        REQUIRE_OK(hash_of(str_of(sums[i].message), &sum, &err), err);
        CHECK_STR(hex_of(&sum, hex), str_of(sums[i].hex), sums[i].message);
    }
}

TEST(hash_is_read_back_from_its_digits)
{
    for (size_t i = 0; i < ARRAY_LEN(sums); i++) {
        struct hash_sum sum;
        char hex[HASH_HEX_MAX];

        hash_of_hex(str_of(sums[i].hex), &sum);
        CHECK_STR(hex_of(&sum, hex), str_of(sums[i].hex), sums[i].message);
    }
}

TEST(hash_of_pieces_is_the_hash_of_the_whole)
{
    char bytes[1000], hex[HASH_HEX_MAX];
    struct hash_sum sum;
    struct error err;
    struct hash hash;

    /* A million times "a" is the standard's long example. */
    memset(bytes, 'a', sizeof(bytes));
    hash_init(&hash);
    for (int i = 0; i < 1000; i++)
        hash_add(&hash, (struct str){ bytes, sizeof(bytes) });
    hash_add(&hash, (struct str){ NULL, 0 });
    REQUIRE_OK(hash_end(&hash, &sum, &err), err);
    CHECK_STR(hex_of(&sum, hex),
              STR("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"), "a million");
    hash_release(&hash);
    hash_init(&hash);
    hash_release(&hash); /* left before its end: the leak check watches */
}

/* RFC 4231, test cases 1, 2 and 6. */
TEST(hash_hmac_gives_the_sums_of_the_rfc)
{
    char key[131], hex[HASH_HEX_MAX];
    struct hash_sum sum;
    struct error err;

    memset(key, 0x0b, 20);
    REQUIRE_OK(hash_hmac((struct str){ key, 20 }, STR("Hi There"), &sum, &err), err);
    CHECK_STR(hex_of(&sum, hex),
              STR("b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"), "case 1");
    REQUIRE_OK(hash_hmac(STR("Jefe"), STR("what do ya want for nothing?"), &sum, &err), err);
    CHECK_STR(hex_of(&sum, hex),
              STR("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"), "case 2");
    memset(key, 0xaa, sizeof(key));
    REQUIRE_OK(hash_hmac((struct str){ key, sizeof(key) },
                         STR("Test Using Larger Than Block-Size Key - Hash Key First"), &sum, &err),
               err);
    CHECK_STR(hex_of(&sum, hex),
              STR("60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"), "case 6");
    REQUIRE_OK(hash_hmac((struct str){ NULL, 0 }, (struct str){ NULL, 0 }, &sum, &err), err);
    CHECK_STR(hex_of(&sum, hex),
              STR("b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"), "empty");
}
