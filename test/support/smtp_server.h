/* smtp_server: takes mails on a free port of 127.0.0.1, without TLS. It speaks as much SMTP as a
 * mail needs, one connection at a time, and remembers what it took. */
#ifndef PATRA_TEST_SUPPORT_SMTP_SERVER_H
#define PATRA_TEST_SUPPORT_SMTP_SERVER_H

#include <stddef.h>

#include "base/str.h"

struct smtp_server;

struct smtp_mail {
    struct str envelope; /* the lines MAIL FROM and RCPT TO */
    struct str data;     /* the mail, as sent */
};

/* `status` answers the end of each mail: 250 takes it, 451 is busy, 550 refuses. */
struct smtp_server *smtp_server_start(int status);
void smtp_server_end(struct smtp_server *server); /* accepts NULL */
int smtp_server_port(const struct smtp_server *server);
void smtp_server_answer(struct smtp_server *server, int status);

/* Those that were taken. They live until the server is ended. */
size_t smtp_server_count(struct smtp_server *server);
struct smtp_mail smtp_server_mail(struct smtp_server *server, size_t index);

#endif
