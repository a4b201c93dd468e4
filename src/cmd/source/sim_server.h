/* sim_server: patra-sim on loopback, for as long as a command needs it.
 *
 * It is $PATRA_SIM, or the patra-sim next to this program. It ends with sim_server_stop(), and also
 * when this program dies, because its standard input is a pipe from here.
 */
#ifndef PATRA_CMD_SOURCE_SIM_SERVER_H
#define PATRA_CMD_SOURCE_SIM_SERVER_H

#include <sys/types.h>

#include "base/attr.h"
#include "base/error.h"

struct sim_server {
    pid_t pid;
    int input;      /* it ends when this is closed */
    char base[128]; /* "http://127.0.0.1:41549" */
};

/* "sim.missing" (L2) when there is no patra-sim, "sim.start" (L1) when it does not start. */
bool sim_server_start(struct sim_server *server, struct error *err) MUST_CHECK;
void sim_server_stop(struct sim_server *server); /* accepts the zero value */

#endif
