/* OAI-PMH: /oai and, with options joined by dots, /oai/day.selfclosed.size50
 *
 *      day        datestamps and bounds are days (otherwise seconds; days are then taken too)
 *      arxiv      arXiv's: days, metadataPrefix arXivRaw, no completeListSize
 *      sizeN      N records a page (100)
 *      422        errors come as HTTP 422
 *      pages      the token's cursor counts pages
 *      and how a list ends: attributes (an empty token with attributes), empty (open and close),
 *      selfclosed, absent, extra (one token too many, which gets noRecordsMatch)
 *
 * The token is "made-millis,from,until,offset,set,prefix": readable, but clients must not rely on
 * it.
 */
#include <inttypes.h>

#include "base/instant.h"
#include "sim/protocol/page.h"
#include "sim/protocol/protocol.h"
#include "sim/util/api_date.h"
#include "sim/util/text_out.h"

enum { SIZE_PRESET = 100, SIZE_MAX_ = 5000 };

#define XML STR("text/xml; charset=utf-8")

enum ending { END_ATTRIBUTES, END_EMPTY, END_SELFCLOSED, END_ABSENT, END_EXTRA };

struct mount {
    bool days;
    bool arxiv;
    bool errors_422;
    bool counts_pages;
    size_t size;
    enum ending ending;
    const struct body_form *form;
    struct str prefix; /* metadataPrefix */
};

struct request {
    struct mount mount;
    struct str verb;
    struct str token; /* as sent; empty on the first page */
    struct str from;
    struct str until;
    struct str set;
    struct view_query query;
    size_t offset;
};

/* ---- options in the path ---- */

static bool take_option(struct mount *mount, struct str option)
{
    static const struct {
        struct str name;
        enum ending ending;
    } endings[] = {
        { STR_INIT("attributes"), END_ATTRIBUTES }, { STR_INIT("empty"), END_EMPTY },
        { STR_INIT("selfclosed"), END_SELFCLOSED }, { STR_INIT("absent"), END_ABSENT },
        { STR_INIT("extra"), END_EXTRA },
    };
    int64_t size;

    for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
        if (str_eq(endings[i].name, option)) {
            mount->ending = endings[i].ending;
            return true;
        }
    }
    if (str_starts(option, STR("size")) && str_to_i64(str_slice(option, 4, option.len), &size) &&
        size > 0 && size <= SIZE_MAX_) {
        mount->size = (size_t)size;
        return true;
    }
    mount->arxiv = mount->arxiv || str_eq(option, STR("arxiv"));
    mount->days = mount->days || str_eq(option, STR("day")) || mount->arxiv;
    mount->errors_422 = mount->errors_422 || str_eq(option, STR("422"));
    mount->counts_pages = mount->counts_pages || str_eq(option, STR("pages"));
    return str_eq(option, STR("arxiv")) || str_eq(option, STR("day")) ||
           str_eq(option, STR("second")) || str_eq(option, STR("422")) ||
           str_eq(option, STR("pages"));
}

static bool parse_path_options(struct str path, struct mount *mount)
{
    struct str rest = str_slice(path, STR("/oai").len, path.len);

    *mount = (struct mount){ .size = SIZE_PRESET };
    if (rest.len > 0)
        rest = str_slice(rest, 1, rest.len);
    while (rest.len > 0) {
        if (!take_option(mount, str_cut(&rest, '.')))
            return false;
    }
    mount->prefix = mount->arxiv ? STR("arXivRaw") : STR("oai_dc");
    mount->form = body_form_find(mount->arxiv  ? STR("arxiv")
                                 : mount->days ? STR("oai-day")
                                               : STR("oai"));
    return true;
}

/* ---- the envelope ---- */

static void add_base_url(struct http_call *call)
{
    buf_add(&call->response, call->scheme);
    buf_add(&call->response, STR("://"));
    buf_add(&call->response, call->host);
    text_add_xml(&call->response, call->path, false);
}

static void begin(struct http_call *call, bool with_request)
{
    struct buf *out = page_begin(call, XML);

    buf_add(out, STR("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<?xml-stylesheet "
                     "type=\"text/xsl\" href=\"/static/oai2.xsl\"?>\n<OAI-PMH "
                     "xmlns=\"http://www.openarchives.org/OAI/2.0/\" "
                     "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
                     "xsi:schemaLocation=\"http://www.openarchives.org/OAI/2.0/ "
                     "http://www.openarchives.org/OAI/2.0/OAI-PMH.xsd\"><responseDate>"));
    api_date_add_second(out, call->now_us);
    buf_add(out, STR("</responseDate><request"));
    for (size_t i = 0; with_request && i < call->param_count; i++) {
        buf_add_char(out, ' ');
        text_add_xml(out, call->params[i].name, false);
        buf_add(out, STR("=\""));
        text_add_xml(out, call->params[i].value, false);
        buf_add_char(out, '"');
    }
    buf_add_char(out, '>');
    add_base_url(call);
    buf_add(out, STR("</request>"));
}

static bool end(struct http_call *call, struct error *err)
{
    buf_add(&call->response, STR("</OAI-PMH>"));
    return buf_ok(&call->response, err);
}

static bool fail(struct http_call *call, const struct mount *mount, const char *code,
                 const char *text, struct error *err)
{
    const bool blames_request =
        str_eq(str_of(code), STR("badVerb")) || str_eq(str_of(code), STR("badArgument"));

    begin(call, !blames_request && !mount->errors_422);
    if (mount->errors_422)
        call->status = 422;
    buf_printf(&call->response, "<error code=\"%s\">%s</error>", code, text);
    return end(call, err);
}

/* ---- bounds ---- */

static void add_stamp(struct buf *out, const struct mount *mount, int64_t at_us)
{
    if (mount->days)
        api_date_add_date(out, at_us);
    else
        api_date_add_second(out, at_us);
}

/* A bound in one of the two forms the protocol has. */
static bool take_bound(const struct mount *mount, struct str text, struct api_date *date)
{
    if (!api_date_parse(text, date))
        return false;
    if (date->unit == API_DATE_DAY && text.len == 10 && !date->zoned)
        return true;
    return !mount->days && date->unit == API_DATE_SECOND && str_ends(text, STR("Z")) &&
           text.data[10] == 'T';
}

static const char *take_bounds(const struct sim_world *world, const struct http_call *call,
                               struct request *request)
{
    struct view_range *range = &request->query.ranges[ORDER_UPDATED];
    struct api_date from = { 0 }, until = { 0 };

    if (request->from.len > 0) {
        if (!take_bound(&request->mount, request->from, &from))
            return "from is not of this repository's granularity";
        range->from_us = from.from_us;
    }
    if (request->until.len > 0) {
        if (!take_bound(&request->mount, request->until, &until))
            return "until is not of this repository's granularity";
        range->to_us = until.to_us; /* inclusive */
    }
    if (request->from.len > 0 && request->until.len > 0 && from.unit != until.unit)
        return "from and until differ in granularity";
    if (range->from_us >= range->to_us)
        return "from is later than until";
    if (!request->mount.arxiv)
        return NULL;
    if (request->from.len > 0 && from.to_us <= world_options_of(world)->from_us)
        return "from is before earliestDatestamp";
    if (request->until.len > 0 && until.from_us > call->now_us + US_PER_DAY)
        return "until is in the future";
    return NULL;
}

/* ---- tokens ---- */

static struct str or_null(struct str text)
{
    return text.len > 0 ? text : STR("null");
}

static struct str or_empty(struct str text)
{
    return str_eq(text, STR("null")) ? STR("") : text;
}

static struct str token_of(const struct http_call *call, const struct request *request,
                           size_t offset)
{
    return arena_printf(call->arena, "%" PRId64 ",%.*s,%.*s,%zu,%.*s,%.*s",
                        call->now_us / US_PER_MS, STR_ARG(or_null(request->from)),
                        STR_ARG(or_null(request->until)), offset, STR_ARG(or_null(request->set)),
                        STR_ARG(request->mount.prefix));
}

static bool read_token(const struct sim_world *world, const struct http_call *call,
                       struct request *request)
{
    struct str rest = request->token;
    const struct str made = str_cut(&rest, ',');
    int64_t made_ms, offset;

    request->from = or_empty(str_cut(&rest, ','));
    request->until = or_empty(str_cut(&rest, ','));
    if (!str_to_i64(made, &made_ms) || !str_to_i64(str_cut(&rest, ','), &offset) || offset < 0)
        return false;
    request->offset = (size_t)offset;
    request->set = or_empty(str_cut(&rest, ','));
    if (!str_eq(rest, request->mount.prefix) || call->content_fault == CONTENT_FAULT_EXPIRED_TOKEN)
        return false;
    return call->now_us - made_ms * US_PER_MS <= world_options_of(world)->token_life_us;
}

static void add_attributes(const struct sim_world *world, struct http_call *call,
                           const struct request *request, size_t total, bool more)
{
    struct buf *out = &call->response;

    if (more) {
        buf_add(out, STR(" expirationDate=\""));
        api_date_add_second(out, call->now_us + world_options_of(world)->token_life_us);
        buf_add_char(out, '"');
    }
    if (!request->mount.arxiv)
        buf_printf(out, " completeListSize=\"%zu\" cursor=\"%zu\"", page_total(call, total),
                   request->mount.counts_pages ? request->offset / request->mount.size
                                               : request->offset);
}

static void add_token(const struct sim_world *world, struct http_call *call,
                      const struct request *request, const struct world_page *page)
{
    struct buf *out = &call->response;
    const size_t next = request->offset + request->mount.size;
    const bool more = next < page->total || request->mount.ending == END_EXTRA;

    if (more) {
        buf_add(out, STR("<resumptionToken"));
        add_attributes(world, call, request, page->total, true);
        buf_add_char(out, '>');
        text_add_xml(out,
                     call->content_fault == CONTENT_FAULT_REPEAT_TOKEN && request->token.len > 0
                         ? request->token
                         : token_of(call, request, next),
                     false);
        buf_add(out, STR("</resumptionToken>"));
        return;
    }
    if (request->token.len == 0 || request->mount.ending == END_ABSENT)
        return; /* a list of one page, or a server that sends no token at the end */
    if (request->mount.ending == END_SELFCLOSED) {
        buf_add(out, STR("<resumptionToken/>"));
        return;
    }
    buf_add(out, STR("<resumptionToken"));
    add_attributes(world, call, request, page->total, false);
    buf_add(out, request->mount.ending == END_EMPTY ? STR("></resumptionToken>") : STR("/>"));
}

/* ---- verbs ---- */

static bool identify(struct sim_world *world, struct http_call *call, const struct request *request,
                     struct error *err)
{
    struct buf *out = &call->response;

    call->page = PAGE_NONE;
    begin(call, true);
    buf_add(out, request->mount.arxiv
                     ? STR("<Identify><repositoryName>arXiv</repositoryName><baseURL>")
                     : STR("<Identify><repositoryName>Simulator</repositoryName><baseURL>"));
    add_base_url(call);
    buf_add(out, STR("</baseURL><protocolVersion>2.0</protocolVersion><adminEmail>"
                     "sim@example.org</adminEmail><earliestDatestamp>"));
    add_stamp(out, &request->mount, world_options_of(world)->from_us);
    buf_add(out, STR("</earliestDatestamp><deletedRecord>persistent</deletedRecord><granularity>"));
    buf_add(out, request->mount.days ? STR("YYYY-MM-DD") : STR("YYYY-MM-DDThh:mm:ssZ"));
    buf_add(out, STR("</granularity></Identify>"));
    return end(call, err);
}

static bool list_formats(struct http_call *call, const struct request *request, struct error *err)
{
    call->page = PAGE_NONE;
    begin(call, true);
    buf_add(&call->response,
            request->mount.arxiv
                ? STR("<ListMetadataFormats><metadataFormat><metadataPrefix>arXivRaw"
                      "</metadataPrefix><schema>http://arxiv.org/OAI/arXivRaw.xsd</schema>"
                      "<metadataNamespace>http://arxiv.org/OAI/arXivRaw/</metadataNamespace>"
                      "</metadataFormat></ListMetadataFormats>")
                : STR("<ListMetadataFormats><metadataFormat><metadataPrefix>oai_dc"
                      "</metadataPrefix><schema>http://www.openarchives.org/OAI/2.0/oai_dc.xsd"
                      "</schema><metadataNamespace>http://www.openarchives.org/OAI/2.0/oai_dc/"
                      "</metadataNamespace></metadataFormat></ListMetadataFormats>"));
    return end(call, err);
}

static void add_headers(struct sim_world *world, struct http_call *call,
                        const struct request *request, const struct world_page *page)
{
    const size_t count = page_count(call, page->count);
    struct buf scratch;

    buf_init(&scratch, call->arena, 1 << 20);
    for (size_t i = 0; i < count; i++) {
        struct str body;

        buf_clear(&scratch);
        body_write(request->mount.form, world, &scratch, page->hits[i].version,
                   page_flaw(call, i, count));
        body = buf_str(&scratch);
        buf_add(&call->response,
                str_slice(body, STR("<record>").len,
                          str_find(body, STR("</header>")) + STR("</header>").len));
    }
}

static bool list(struct sim_world *world, struct http_call *call, const struct request *request,
                 struct error *err)
{
    const bool whole = str_eq(request->verb, STR("ListRecords"));
    struct world_page page;

    if (!world_page(page_at(world, call), &request->query,
                    (struct world_part){ page_skip(call, request->offset, request->mount.size),
                                         request->mount.size },
                    &page, err))
        return false;
    call->confirmable = request->offset + request->mount.size >= page.total;
    if (page.count == 0 || (request->set.len > 0 && !str_eq(request->set, STR("user-sim"))))
        return fail(call, &request->mount, "noRecordsMatch",
                    "The combination of the values of the from, until, set and metadataPrefix "
                    "arguments results in an empty list.",
                    err);
    begin(call, true);
    page_reserve(call, page.count * (whole ? 4000 : 300) + 4096);
    buf_printf(&call->response, "<%.*s>", STR_ARG(request->verb));
    if (whole)
        page_add_records(world, call, request->mount.form, &page, STR(""));
    else
        add_headers(world, call, request, &page);
    add_token(world, call, request, &page);
    buf_printf(&call->response, "</%.*s>", STR_ARG(request->verb));
    return end(call, err);
}

static bool take_list(struct sim_world *world, struct http_call *call, struct request *request,
                      struct error *err)
{
    const struct str prefix = call_param(call, STR("metadataPrefix"));
    const char *complaint;

    request->query = view_query_all(ORDER_UPDATED, VIEW_ALL);
    request->token = call_param(call, STR("resumptionToken"));
    if (request->token.len > 0) {
        if (call->param_count != 2)
            return fail(call, &request->mount, "badArgument",
                        "resumptionToken is an exclusive argument", err);
        if (!read_token(world, call, request) || take_bounds(world, call, request) != NULL)
            return fail(call, &request->mount, "badResumptionToken",
                        "The value of the resumptionToken argument is invalid or expired.", err);
        return list(world, call, request, err);
    }
    request->from = call_param(call, STR("from"));
    request->until = call_param(call, STR("until"));
    request->set = call_param(call, STR("set"));
    if (prefix.len == 0)
        return fail(call, &request->mount, "badArgument", "metadataPrefix is missing", err);
    if (!str_eq(prefix, request->mount.prefix))
        return fail(call, &request->mount, "cannotDisseminateFormat", "no such format", err);
    complaint = take_bounds(world, call, request);
    if (complaint != NULL)
        return fail(call, &request->mount, "badArgument", complaint, err);
    return list(world, call, request, err);
}

static bool get_record(struct sim_world *world, struct http_call *call,
                       const struct request *request, struct error *err)
{
    const struct corpus *corpus = world_corpus(world);
    uint32_t record, version = CORPUS_NONE;

    if (!str_eq(call_param(call, STR("metadataPrefix")), request->mount.prefix))
        return fail(call, &request->mount, "cannotDisseminateFormat", "no such format", err);
    if (id_parse(request->mount.form->ids, call_param(call, STR("identifier")), corpus->count,
                 &record))
        version = corpus_current(corpus, record, call->now_us);
    if (version == CORPUS_NONE)
        return fail(call, &request->mount, "idDoesNotExist", "The given id does not exist", err);
    begin(call, true);
    buf_add(&call->response, STR("<GetRecord>"));
    body_write(request->mount.form, world, &call->response, version, page_flaw(call, 0, 1));
    buf_add(&call->response, STR("</GetRecord>"));
    return end(call, err);
}

/* Each argument of the protocol at most once, and no others. */
static bool has_bad_arguments(const struct http_call *call)
{
    static const struct str names[] = {
        STR_INIT("verb"), STR_INIT("metadataPrefix"),  STR_INIT("from"),       STR_INIT("until"),
        STR_INIT("set"),  STR_INIT("resumptionToken"), STR_INIT("identifier"),
    };

    for (size_t i = 0; i < call->param_count; i++) {
        bool known = false;

        for (size_t j = 0; j < ARRAY_LEN(names); j++)
            known = known || str_eq(names[j], call->params[i].name);
        if (!known)
            return true;
        for (size_t j = 0; j < i; j++) {
            if (str_eq(call->params[i].name, call->params[j].name))
                return true;
        }
    }
    return false;
}

bool protocol_oai(struct sim_world *world, struct http_call *call, struct error *err)
{
    struct request request = { .verb = call_param(call, STR("verb")) };

    if (!parse_path_options(call->path, &request.mount)) {
        call_respond(call, 404, STR("text/html"), STR("<html><body>Not found</body></html>"));
        return buf_ok(&call->response, err);
    }
    if (has_bad_arguments(call))
        return fail(call, &request.mount, "badArgument", "an argument is unknown or given twice",
                    err);
    if (call->content_fault == CONTENT_FAULT_BODY_ERROR)
        return fail(call, &request.mount, "badArgument", "The database is not available", err);
    if (str_eq(request.verb, STR("Identify")))
        return identify(world, call, &request, err);
    if (str_eq(request.verb, STR("ListMetadataFormats")))
        return list_formats(call, &request, err);
    if (str_eq(request.verb, STR("ListSets")))
        return fail(call, &request.mount, "noSetHierarchy", "This repository does not support sets",
                    err);
    if (str_eq(request.verb, STR("GetRecord")))
        return get_record(world, call, &request, err);
    if (str_eq(request.verb, STR("ListRecords")) || str_eq(request.verb, STR("ListIdentifiers")))
        return take_list(world, call, &request, err);
    return fail(call, &request.mount, "badVerb", "Illegal OAI verb", err);
}
