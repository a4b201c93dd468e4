/* module: a part of patra that uses a heavy library and is loaded only when it is needed.
 *
 * libxml2 depends on ICU and a C++ runtime, libpq and libcurl on Kerberos and LDAP. Linked in, they
 * would make every `patra --help` load forty libraries. The code that needs them is therefore built
 * as a shared object, patra-NAME.so, which exports one constant table of functions.
 *
 * The file is searched in $PATRA_MODULES, beside the program, and in ../lib/patra from there. It is
 * never unloaded. A module of another version of patra is refused.
 */
#ifndef PATRA_BASE_MODULE_H
#define PATRA_BASE_MODULE_H

#include "base/attr.h"
#include "base/error.h"

/* Every module's table begins with this. */
struct module_head {
    const char *version; /* PATRA_VERSION when it was built */
};

/* Marks the one symbol a module exports: `MODULE_EXPORT const struct xml patra_module;` */
#define MODULE_EXPORT __attribute__((visibility("default")))

/* The table exported by module NAME, or NULL with an error that names the folders searched. */
const void *module_load(const char *name, struct error *err) MUST_CHECK;

#endif
