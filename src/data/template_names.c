/* The scopes and variables of templates, for the parser, the compiler of sources and the manual. */
#include "data/template.h"

const struct template_scope_row template_scopes[TEMPLATE_SCOPES] = {
    [TEMPLATE_PLAN] = { "plan", false, "The plan that this request belongs to." },
    [TEMPLATE_SLICE] = { "slice", false, "The slice that this request belongs to." },
    [TEMPLATE_WINDOW] = { "window", false, "The window to request for the slice." },
    [TEMPLATE_PAGE] = { "page", false, "The page to fetch." },
    [TEMPLATE_IDS] = { "ids", false, "The ids of one batch of detail requests." },
    [TEMPLATE_HISTORY] = { "history", true, "Values captured from the responses of phase one." },
    [TEMPLATE_EXPR] = { "expr", true, "Expressions that the source declares." },
    [TEMPLATE_PARAMS] = { "params", true, "Parameters of the trigger." },
    [TEMPLATE_CONST] = { "const", true, "Constants that the source declares." },
    [TEMPLATE_CREDENTIAL] = { "credential", true,
                              "Parts of the source's credential; never stored, never shown." },
};

const struct template_variable_row template_variables[] = {
    { TEMPLATE_PLAN, "id", TEMPLATE_TEXT, "The plan's id." },
    { TEMPLATE_PLAN, "operation", TEMPLATE_TEXT, "HARVEST, BACKFILL, UPDATE, ..." },
    { TEMPLATE_PLAN, "source", TEMPLATE_TEXT, "The source's name." },
    { TEMPLATE_PLAN, "endpoint", TEMPLATE_TEXT, "The endpoint's name." },
    { TEMPLATE_SLICE, "no", TEMPLATE_INT, "The slice's number in its plan, from 1." },
    { TEMPLATE_SLICE, "from", TEMPLATE_TEXT,
      "First id or page of a slice by id or page; else null." },
    { TEMPLATE_SLICE, "to", TEMPLATE_TEXT, "End of a slice by id or page, exclusive." },
    { TEMPLATE_SLICE, "last", TEMPLATE_TEXT,
      "The end minus one: for filters that include both ends." },
    { TEMPLATE_SLICE, "bucket", TEMPLATE_INT, "Hash bucket of a slice by id." },
    { TEMPLATE_WINDOW, "from", TEMPLATE_INSTANT, "Start of the window, inclusive." },
    { TEMPLATE_WINDOW, "to", TEMPLATE_INSTANT, "End of the window, exclusive." },
    { TEMPLATE_WINDOW, "last", TEMPLATE_INSTANT,
      "The end minus one unit of the source's granularity: for filters that include both ends." },
    { TEMPLATE_PAGE, "no", TEMPLATE_INT, "The page's number, from the source's base." },
    { TEMPLATE_PAGE, "offset", TEMPLATE_INT, "Records received before this page." },
    { TEMPLATE_PAGE, "size", TEMPLATE_INT, "Records to request per page." },
    { TEMPLATE_PAGE, "limit", TEMPLATE_INT, "End of this page: offset plus size." },
    { TEMPLATE_PAGE, "token", TEMPLATE_TEXT, "The token of this page." },
    { TEMPLATE_PAGE, "url", TEMPLATE_TEXT, "The URL of this page." },
    { TEMPLATE_IDS, "list", TEMPLATE_LIST, "The ids; see join()." },
    { TEMPLATE_IDS, "count", TEMPLATE_INT, "The number of ids." },
};
const size_t template_variables_count = ARRAY_LEN(template_variables);
