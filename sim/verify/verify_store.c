/* Opens the reader that a store's DSN asks for. */
#include "sim/verify/verify.h"

struct store_reader *store_reader_open(struct str dsn, struct str source, struct str endpoint,
                                       struct error *err)
{
    if (str_starts(dsn, STR("postgresql://")) || str_starts(dsn, STR("postgres://")))
        return store_reader_postgres(dsn, source, endpoint, err);
    if (str_starts(dsn, STR("sqlite:")))
        dsn = str_slice(dsn, 7, dsn.len);
    return store_reader_sqlite(dsn, source, endpoint, err);
}
