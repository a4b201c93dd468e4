/* played_wake: stores that do nothing but send and hear notes, for tests in virtual time. */
#ifndef PATRA_TEST_SUPPORT_PLAYED_WAKE_H
#define PATRA_TEST_SUPPORT_PLAYED_WAKE_H

#include "port/store_wake.h"

enum { PLAYED_NOTES_MAX = 64 };

struct played_wake {
    struct store store;       /* first */
    struct played_wake *peer; /* hears what this one sends; NULL: nobody does */
    bool is_asked;            /* it sends no notes, as SQLite */
    bool is_deaf;
    bool is_lost; /* calls fail until it is reconnected */
    bool is_listening[WAKE_CHANNELS];
    struct wake_note notes[PLAYED_NOTES_MAX];
    int note_count;
    int fd;
    int listens; /* how often it began to */
    int asked;
    int sent[WAKE_CHANNELS];
};

/* On memory that is zero, or as the test wants it. */
void played_wake_open(struct played_wake *played);
void played_wake_close(struct played_wake *played);

/* Somebody has sent it a note. */
void played_wake_note(struct played_wake *played, enum wake_channel channel, const char *text);

#endif
