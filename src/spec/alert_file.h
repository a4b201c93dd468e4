/* alert_file: the file of a receiver of alerts, compiled into the values that alerts are sent by.
 *
 *      alerts/x.yaml --alert_file_read--> struct alert_receiver --alert_file_compile--> JSON
 *                          │                                                  │
 *                        faults   struct alert_receiver <--alert_file_load-- reg_alert_receiver
 *
 * As with buses (spec/bus.h), the stored form is the file itself with its defaults written out, so
 * one reader reads both, and what is loaded is checked like a file.
 */
#ifndef PATRA_SPEC_ALERT_FILE_H
#define PATRA_SPEC_ALERT_FILE_H

#include "base/arena.h"
#include "base/attr.h"
#include "base/buf.h"
#include "core/alert_receiver.h"
#include "spec/fault.h"

enum { ALERT_FILE_BYTES_MAX = 64 << 10 };

/* Reads a file and checks it. False when there are errors; the name is there if it was found. */
bool alert_file_read(struct arena *arena, struct str file, struct fault_list *faults,
                     struct alert_receiver *receiver) MUST_CHECK;

/* The receiver must have been read without errors. */
bool alert_file_compile(struct arena *arena, const struct alert_receiver *receiver,
                        struct str *json, struct error *err) MUST_CHECK;

/* The stored form back. "alert.spec" (L4) when it is not one. */
bool alert_file_load(struct arena *arena, struct str json, struct alert_receiver *receiver,
                     struct error *err) MUST_CHECK;

/* The receiver as a file, with every setting in effect. */
void alert_file_print(struct arena *arena, const struct alert_receiver *receiver, struct buf *out);

/* A table of Markdown with every setting; a test compares it with docs/alerts.md. */
void alert_manual_write(struct buf *out);

#endif
