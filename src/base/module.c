/* module: finding, loading and checking patra-NAME.so. */
#include "base/module.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void program_folder(char folder[PATH_MAX])
{
    const ssize_t len = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    char *slash;

    folder[len > 0 ? len : 0] = '\0';
    slash = strrchr(folder, '/');
    if (slash != NULL)
        *slash = '\0';
}

/* True if the file exists; it may still fail to load. */
static bool find(const char *folder, const char *below, const char *name, char path[PATH_MAX])
{
    const int len = snprintf(path, PATH_MAX, "%s%s/patra-%s.so", folder, below, name);

    return len > 0 && len < PATH_MAX && access(path, R_OK) == 0;
}

static bool locate(const char *name, char path[PATH_MAX], struct error *err)
{
    const char *configured = getenv("PATRA_MODULES");
    char folder[PATH_MAX];

    if (configured != NULL && find(configured, "", name, path))
        return true;
    program_folder(folder);
    if (find(folder, "", name, path) || find(folder, "/../lib/patra", name, path))
        return true;
    return error_set(err, ERROR_FATAL, "module.missing",
                     "patra-%s.so is neither in $PATRA_MODULES (%s) nor in %.200s nor in its "
                     "../lib/patra; is patra installed completely?",
                     name, configured != NULL ? configured : "not set", folder);
}

const void *module_load(const char *name, struct error *err)
{
    char path[PATH_MAX];
    const struct module_head *head;
    void *handle;

    if (!locate(name, path, err))
        return NULL;
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        (void)error_set(err, ERROR_FATAL, "module.broken", "load %.500s: %.400s", path, dlerror());
        return NULL;
    }
    head = dlsym(handle, "patra_module");
    if (head == NULL || head->version == NULL || strcmp(head->version, PATRA_VERSION) != 0) {
        (void)error_set(err, ERROR_FATAL, "module.version",
                        "%.500s belongs to another version of patra; this is %s", path,
                        PATRA_VERSION);
        (void)dlclose(handle);
        return NULL;
    }
    return head; /* cppcheck-suppress resourceLeak ; a module is never unloaded */
}
