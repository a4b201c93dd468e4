/* Loads the module that packs responses. */
#include "adapter/pack/pack.h"

bool body_packer_open(struct body_packer **packer, struct error *err)
{
    const struct pack_library *library = module_load("pack", err);

    *packer = NULL;
    return library != NULL && library->body(packer, err);
}
