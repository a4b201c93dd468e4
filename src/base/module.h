/* module: a part of patra that stands on a heavy library, loaded only when it is needed.
 *
 * libxml2 brings ICU and a C++ runtime, libpq and libcurl bring Kerberos and LDAP: linked in, they
 * would make every `patra --help` wait for forty libraries. So what needs them is built as a shared
 * object of its own, patra-NAME.so, which exports one constant table of functions.
 *
 * The file is looked for in $PATRA_MODULES, beside the program, and in ../lib/patra from there. It
 * is never unloaded. A module of another version of patra is refused.
 */
#ifndef PATRA_BASE_MODULE_H
#define PATRA_BASE_MODULE_H

#include "base/attr.h"
#include "base/error.h"

/* Every module's table begins with this. */
struct module_head {
    const char *version; /* PATRA_VERSION at its build */
};

/* Marks the one symbol a module exports: `MODULE_EXPORT const struct xml patra_module;` */
#define MODULE_EXPORT __attribute__((visibility("default")))

/* The table exported by module NAME, or NULL with an error that tells where it was looked for. */
const void *module_load(const char *name, struct error *err) MUST_CHECK;

#endif
