#include <stdio.h>
#include <unistd.h>

#include "contract.h"
#include "matrix_database.h"

/* A copy of one that was migrated; the last one is gone. */
const char *matrix_database(void)
{
    static char path[256];
    static struct str bytes;
    char side[300];
    FILE *file;

    if (bytes.data == NULL) {
        bytes = test_read(contract_migrated(contract_new_database()));
        (void)snprintf(path, sizeof(path), "%s/case.db", test_folder());
    }
    for (int i = 0; i < 2; i++) {
        (void)snprintf(side, sizeof(side), "%s%s", path, i == 0 ? "-wal" : "-shm");
        (void)unlink(side);
    }
    file = fopen(path, "wb");
    REQUIRE(file != NULL && fwrite(bytes.data, 1, bytes.len, file) == bytes.len, path);
    REQUIRE(fclose(file) == 0, path);
    return path;
}
