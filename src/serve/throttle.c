/* Buckets of requests. */
#include "serve/throttle.h"

#include "base/instant.h"

static struct throttle_bucket *bucket_of(struct throttle *throttle, struct str key, int64_t now_us)
{
    const struct str name = str_slice(key, 0, THROTTLE_KEY_MAX - 1);
    struct throttle_bucket *oldest = &throttle->places[0];

    for (size_t i = 0; i < THROTTLE_PLACES; i++) {
        struct throttle_bucket *place = &throttle->places[i];

        if (place->key[0] != '\0' && str_eq(str_of(place->key), name))
            return place;
        if (oldest->key[0] != '\0' && (place->key[0] == '\0' || place->at_us < oldest->at_us))
            oldest = place;
    }
    *oldest = (struct throttle_bucket){ .left = throttle->burst, .at_us = now_us };
    for (size_t i = 0; i < name.len; i++)
        oldest->key[i] = name.data[i];
    return oldest;
}

static struct throttle_bucket *filled(struct throttle *throttle, struct str key, int64_t now_us)
{
    struct throttle_bucket *bucket = bucket_of(throttle, key, now_us);
    const double seconds = (double)(now_us - bucket->at_us) / (double)US_PER_SECOND;

    if (seconds > 0) {
        bucket->left += seconds * throttle->rate;
        bucket->at_us = now_us;
    }
    if (bucket->left > throttle->burst)
        bucket->left = throttle->burst;
    return bucket;
}

bool throttle_take(struct throttle *throttle, struct str key, int64_t now_us)
{
    struct throttle_bucket *bucket = filled(throttle, key, now_us);

    if (bucket->left < 1)
        return false;
    bucket->left -= 1;
    return true;
}

bool throttle_is_open(struct throttle *throttle, struct str key, int64_t now_us)
{
    return filled(throttle, key, now_us)->left >= 1;
}
