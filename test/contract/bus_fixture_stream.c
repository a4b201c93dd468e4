/* The fixture of the embedded stream, over any store. */
#include "bus_contract.h"
#include "contract.h"
#include "stream_bus.h"

const struct bus_fixture bus_fixture = { .name = "stream", .traits = BUS_HOLDS_SHORT };

static const char *dsn;

void bus_contract_begin(void)
{
    dsn = contract_ready_database();
}

void bus_contract_end(void)
{
    contract_end();
}

struct bus *bus_contract_open(void)
{
    return stream_bus_open(dsn);
}

struct bus *bus_contract_open_at(int port)
{
    (void)port;
    return NULL;
}

void bus_contract_stop(void)
{
}

void bus_contract_start(void)
{
}

size_t bus_contract_received(struct arena *arena, struct bus_delivery **items)
{
    (void)arena;
    *items = NULL;
    return 0;
}
