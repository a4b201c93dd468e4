/* matrix_database: the address of an empty database with the schema in place, for the next case. */
#ifndef PATRA_TEST_MATRIX_DATABASE_H
#define PATRA_TEST_MATRIX_DATABASE_H

const char *matrix_database(void);

#endif
