#include "contract.h"
#include "matrix_database.h"

const char *matrix_database(void)
{
    return contract_ready_database();
}
