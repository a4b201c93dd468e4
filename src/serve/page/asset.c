/* Style and script. */
#include "serve/page/asset.h"

#include "serve/page/boards.h"
#include "serve/page/page.h"

bool asset_style(struct call *call, struct error *err)
{
    (void)err;
    call->response->body = ASSET_STYLE_CSS;
    return true;
}

bool asset_script(struct call *call, struct error *err)
{
    (void)err;
    call->response->body = ASSET_SCRIPT_JS;
    return true;
}
