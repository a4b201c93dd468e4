/* token: how far an export has come, as a text that the next one is given.
 *
 *      v1/3f2a60c1d5e84b0f9a7e6d5c4b3a2918/crossref/works/123456
 *         the store                        source   endpoint ('': all)
 *                                                         the last event that needs no repeating
 *
 * Everything that an event up to that number says was in the exports before, or was overwritten by
 * a later one. It belongs to one store and one selection: with another, it would leave changes out.
 */
#ifndef PATRA_ENGINE_EXPORT_TOKEN_H
#define PATRA_ENGINE_EXPORT_TOKEN_H

#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"

struct export_token {
    struct str store; /* store_identity() */
    struct str source;
    struct str endpoint;
    int64_t after;
};

/* data is NULL when the arena is full. */
struct str export_token_text(struct arena *arena, const struct export_token *token);

/* Reads a token, which must have the store, source and endpoint of `expected`; "export.token" (L2)
 * says what is wrong. */
bool export_token_read(struct str text, const struct export_token *expected, int64_t *after,
                       struct error *err) MUST_CHECK;

#endif
