/* An answer of Pub/Sub's StreamingPull: messages as deliveries, whose parts are those of the
 * message, and no more attributes than it has. */
#include <assert.h>
#include <stdint.h>

#include "adapter/pubsub/pubsub.h"
#include "base/instant.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    Wire__StreamingPullResponse *answer = wire__streaming_pull_response__unpack(NULL, size, bytes);
    struct bus_delivery delivery;
    struct arena arena;
    struct error err;

    if (answer == NULL)
        return 0;
    arena_init(&arena, 16 << 20);
    for (size_t i = 0; i < answer->n_received_messages; i++) {
        const Wire__ReceivedMessage *received = answer->received_messages[i];

        if (received->message == NULL)
            continue;
        if (!pubsub_message_read(&arena, received, &delivery, &err)) {
            assert(arena_error_is_limit(&err));
            continue;
        }
        assert(str_eq(delivery.message.body, pubsub_str(received->message->data)));
        assert(delivery.message.attribute_count <= received->message->n_attributes);
        assert(delivery.published_us >= 0 && delivery.published_us <= INSTANT_MAX + US_PER_SECOND);
        assert(delivery.attempt >= 0);
    }
    arena_release(&arena);
    wire__streaming_pull_response__free_unpacked(answer, NULL);
    return 0;
}
