/* serve: `patra-sim serve`. */
#ifndef PATRA_SIM_CMD_SERVE_H
#define PATRA_SIM_CMD_SERVE_H

/* Returns the exit code: 0 after SIGTERM or SIGINT, 1 when it cannot serve, 2 on wrong usage. */
int serve_main(int argc, char **argv);

#endif
