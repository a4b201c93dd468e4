/* asset: the files of the dashboard, embedded at build (src/serve/asset). */
#ifndef PATRA_SERVE_PAGE_ASSET_H
#define PATRA_SERVE_PAGE_ASSET_H

#include "base/str.h"

extern const struct str ASSET_STYLE_CSS;
extern const struct str ASSET_SCRIPT_JS;

#endif
