/* verify: `patra-sim verify`. */
#ifndef PATRA_SIM_CMD_VERIFY_H
#define PATRA_SIM_CMD_VERIFY_H

/* Returns the exit code: 0 when store and truth agree, 1 when they differ, 2 when the comparison
 * failed. */
int verify_main(int argc, char **argv);

#endif
