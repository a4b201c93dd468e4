/* OAI-PMH: /oai and, with options joined by dots, /oai/day.selfclosed.size50
 *
 *      day        datestamps and bounds are days (otherwise seconds; days are then taken too)
 *      arxiv      arXiv's: days, metadataPrefix arXivRaw, no completeListSize
 *      sizeN      N records a page (100)
 *      422        errors come as HTTP 422
 *      pages      the token's cursor counts pages
 *      and how a list ends: attributes (an empty token with attributes), empty (open and close),
 *      selfclosed, absent, extra (a token too many, which is answered by noRecordsMatch)
 *
 * The token is "made-millis,from,until,offset,set,prefix": readable, but not the client's business.
 */
#include <inttypes.h>

#include "base/instant.h"
#include "sim/protocol/page.h"
#include "sim/protocol/protocol.h"
#include "sim/util/api_date.h"
#include "sim/world/words.h"

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

/* ---- mounts ---- */

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

static bool take_mount(struct str path, struct mount *mount)
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

static void add_base_url(struct exchange *exchange)
{
    buf_add(&exchange->reply, exchange->scheme);
    buf_add(&exchange->reply, STR("://"));
    buf_add(&exchange->reply, exchange->host);
    words_xml(&exchange->reply, exchange->path, false);
}

static void begin(struct exchange *exchange, bool with_request)
{
    struct buf *out = answer_begin(exchange, XML);

    buf_add(out, STR("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<?xml-stylesheet "
                     "type=\"text/xsl\" href=\"/static/oai2.xsl\"?>\n<OAI-PMH "
                     "xmlns=\"http://www.openarchives.org/OAI/2.0/\" "
                     "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
                     "xsi:schemaLocation=\"http://www.openarchives.org/OAI/2.0/ "
                     "http://www.openarchives.org/OAI/2.0/OAI-PMH.xsd\"><responseDate>"));
    when_add_second(out, exchange->now_us);
    buf_add(out, STR("</responseDate><request"));
    for (size_t i = 0; with_request && i < exchange->param_count; i++) {
        buf_add_char(out, ' ');
        words_xml(out, exchange->params[i].name, false);
        buf_add(out, STR("=\""));
        words_xml(out, exchange->params[i].value, false);
        buf_add_char(out, '"');
    }
    buf_add_char(out, '>');
    add_base_url(exchange);
    buf_add(out, STR("</request>"));
}

static bool end(struct exchange *exchange, struct error *err)
{
    buf_add(&exchange->reply, STR("</OAI-PMH>"));
    return buf_ok(&exchange->reply, err);
}

static bool fail(struct exchange *exchange, const struct mount *mount, const char *code,
                 const char *text, struct error *err)
{
    const bool blames_request =
        str_eq(str_of(code), STR("badVerb")) || str_eq(str_of(code), STR("badArgument"));

    begin(exchange, !blames_request && !mount->errors_422);
    if (mount->errors_422)
        exchange->status = 422;
    buf_printf(&exchange->reply, "<error code=\"%s\">%s</error>", code, text);
    return end(exchange, err);
}

/* ---- bounds ---- */

static void add_stamp(struct buf *out, const struct mount *mount, int64_t at_us)
{
    if (mount->days)
        when_add_date(out, at_us);
    else
        when_add_second(out, at_us);
}

/* A bound in one of the two forms the protocol has. */
static bool take_bound(const struct mount *mount, struct str text, struct when *when)
{
    if (!when_parse(text, when))
        return false;
    if (when->unit == WHEN_DAY && text.len == 10 && !when->zoned)
        return true;
    return !mount->days && when->unit == WHEN_SECOND && str_ends(text, STR("Z")) &&
           text.data[10] == 'T';
}

static const char *take_bounds(const struct sim_world *world, const struct exchange *exchange,
                               struct request *request)
{
    struct view_range *range = &request->query.ranges[ORDER_UPDATED];
    struct when from = { 0 }, until = { 0 };

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
    if (request->until.len > 0 && until.from_us > exchange->now_us + US_PER_DAY)
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

static struct str token_of(const struct exchange *exchange, const struct request *request,
                           size_t offset)
{
    return arena_printf(exchange->arena, "%" PRId64 ",%.*s,%.*s,%zu,%.*s,%.*s",
                        exchange->now_us / US_PER_MS, STR_ARG(or_null(request->from)),
                        STR_ARG(or_null(request->until)), offset, STR_ARG(or_null(request->set)),
                        STR_ARG(request->mount.prefix));
}

static bool read_token(const struct sim_world *world, const struct exchange *exchange,
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
    if (!str_eq(rest, request->mount.prefix) || exchange->twist == TWIST_EXPIRED_TOKEN)
        return false;
    return exchange->now_us - made_ms * US_PER_MS <= world_options_of(world)->token_life_us;
}

static void add_attributes(const struct sim_world *world, struct exchange *exchange,
                           const struct request *request, size_t total, bool more)
{
    struct buf *out = &exchange->reply;

    if (more) {
        buf_add(out, STR(" expirationDate=\""));
        when_add_second(out, exchange->now_us + world_options_of(world)->token_life_us);
        buf_add_char(out, '"');
    }
    if (!request->mount.arxiv)
        buf_printf(out, " completeListSize=\"%zu\" cursor=\"%zu\"", answer_total(exchange, total),
                   request->mount.counts_pages ? request->offset / request->mount.size
                                               : request->offset);
}

static void add_token(const struct sim_world *world, struct exchange *exchange,
                      const struct request *request, const struct world_page *page)
{
    struct buf *out = &exchange->reply;
    const size_t next = request->offset + request->mount.size;
    const bool more = next < page->total || request->mount.ending == END_EXTRA;

    if (more) {
        buf_add(out, STR("<resumptionToken"));
        add_attributes(world, exchange, request, page->total, true);
        buf_add_char(out, '>');
        words_xml(out,
                  exchange->twist == TWIST_REPEAT_TOKEN && request->token.len > 0
                      ? request->token
                      : token_of(exchange, request, next),
                  false);
        buf_add(out, STR("</resumptionToken>"));
        return;
    }
    if (request->token.len == 0 || request->mount.ending == END_ABSENT)
        return; /* a list of one page, or a server that says nothing */
    if (request->mount.ending == END_SELFCLOSED) {
        buf_add(out, STR("<resumptionToken/>"));
        return;
    }
    buf_add(out, STR("<resumptionToken"));
    add_attributes(world, exchange, request, page->total, false);
    buf_add(out, request->mount.ending == END_EMPTY ? STR("></resumptionToken>") : STR("/>"));
}

/* ---- verbs ---- */

static bool identify(struct sim_world *world, struct exchange *exchange,
                     const struct request *request, struct error *err)
{
    struct buf *out = &exchange->reply;

    exchange->page = PAGE_NONE;
    begin(exchange, true);
    buf_add(out, request->mount.arxiv
                     ? STR("<Identify><repositoryName>arXiv</repositoryName><baseURL>")
                     : STR("<Identify><repositoryName>Simulator</repositoryName><baseURL>"));
    add_base_url(exchange);
    buf_add(out, STR("</baseURL><protocolVersion>2.0</protocolVersion><adminEmail>"
                     "sim@example.org</adminEmail><earliestDatestamp>"));
    add_stamp(out, &request->mount, world_options_of(world)->from_us);
    buf_add(out, STR("</earliestDatestamp><deletedRecord>persistent</deletedRecord><granularity>"));
    buf_add(out, request->mount.days ? STR("YYYY-MM-DD") : STR("YYYY-MM-DDThh:mm:ssZ"));
    buf_add(out, STR("</granularity></Identify>"));
    return end(exchange, err);
}

static bool list_formats(struct exchange *exchange, const struct request *request,
                         struct error *err)
{
    exchange->page = PAGE_NONE;
    begin(exchange, true);
    buf_add(&exchange->reply,
            request->mount.arxiv
                ? STR("<ListMetadataFormats><metadataFormat><metadataPrefix>arXivRaw"
                      "</metadataPrefix><schema>http://arxiv.org/OAI/arXivRaw.xsd</schema>"
                      "<metadataNamespace>http://arxiv.org/OAI/arXivRaw/</metadataNamespace>"
                      "</metadataFormat></ListMetadataFormats>")
                : STR("<ListMetadataFormats><metadataFormat><metadataPrefix>oai_dc"
                      "</metadataPrefix><schema>http://www.openarchives.org/OAI/2.0/oai_dc.xsd"
                      "</schema><metadataNamespace>http://www.openarchives.org/OAI/2.0/oai_dc/"
                      "</metadataNamespace></metadataFormat></ListMetadataFormats>"));
    return end(exchange, err);
}

static void add_headers(struct sim_world *world, struct exchange *exchange,
                        const struct request *request, const struct world_page *page)
{
    const size_t count = answer_count(exchange, page->count);
    struct buf scratch;

    buf_init(&scratch, exchange->arena, 1 << 20);
    for (size_t i = 0; i < count; i++) {
        struct str body;

        buf_clear(&scratch);
        body_write(request->mount.form, world, &scratch, page->hits[i].version,
                   answer_flaw(exchange, i, count));
        body = buf_str(&scratch);
        buf_add(&exchange->reply,
                str_slice(body, STR("<record>").len,
                          str_find(body, STR("</header>")) + STR("</header>").len));
    }
}

static bool list(struct sim_world *world, struct exchange *exchange, const struct request *request,
                 struct error *err)
{
    const bool whole = str_eq(request->verb, STR("ListRecords"));
    struct world_page page;

    if (!world_page(
            world, exchange->arena, exchange->now_us, &request->query,
            (struct world_part){ answer_skip(exchange, request->offset, request->mount.size),
                                 request->mount.size },
            &page, err))
        return false;
    exchange->confirmable = request->offset + request->mount.size >= page.total;
    if (page.count == 0 || (request->set.len > 0 && !str_eq(request->set, STR("user-sim"))))
        return fail(exchange, &request->mount, "noRecordsMatch",
                    "The combination of the values of the from, until, set and metadataPrefix "
                    "arguments results in an empty list.",
                    err);
    begin(exchange, true);
    answer_reserve(exchange, page.count * (whole ? 4000 : 300) + 4096);
    buf_printf(&exchange->reply, "<%.*s>", STR_ARG(request->verb));
    if (whole)
        answer_records(world, exchange, request->mount.form, &page, STR(""));
    else
        add_headers(world, exchange, request, &page);
    add_token(world, exchange, request, &page);
    buf_printf(&exchange->reply, "</%.*s>", STR_ARG(request->verb));
    return end(exchange, err);
}

static bool take_list(struct sim_world *world, struct exchange *exchange, struct request *request,
                      struct error *err)
{
    const struct str prefix = exchange_param(exchange, STR("metadataPrefix"));
    const char *complaint;

    request->query = view_query_all(ORDER_UPDATED, VIEW_ALL);
    request->token = exchange_param(exchange, STR("resumptionToken"));
    if (request->token.len > 0) {
        if (exchange->param_count != 2)
            return fail(exchange, &request->mount, "badArgument",
                        "resumptionToken is an exclusive argument", err);
        if (!read_token(world, exchange, request) || take_bounds(world, exchange, request) != NULL)
            return fail(exchange, &request->mount, "badResumptionToken",
                        "The value of the resumptionToken argument is invalid or expired.", err);
        return list(world, exchange, request, err);
    }
    request->from = exchange_param(exchange, STR("from"));
    request->until = exchange_param(exchange, STR("until"));
    request->set = exchange_param(exchange, STR("set"));
    if (prefix.len == 0)
        return fail(exchange, &request->mount, "badArgument", "metadataPrefix is missing", err);
    if (!str_eq(prefix, request->mount.prefix))
        return fail(exchange, &request->mount, "cannotDisseminateFormat", "no such format", err);
    complaint = take_bounds(world, exchange, request);
    if (complaint != NULL)
        return fail(exchange, &request->mount, "badArgument", complaint, err);
    return list(world, exchange, request, err);
}

static bool get_record(struct sim_world *world, struct exchange *exchange,
                       const struct request *request, struct error *err)
{
    const struct corpus *corpus = world_corpus(world);
    uint32_t record, version = CORPUS_NONE;

    if (!str_eq(exchange_param(exchange, STR("metadataPrefix")), request->mount.prefix))
        return fail(exchange, &request->mount, "cannotDisseminateFormat", "no such format", err);
    if (id_parse(request->mount.form->ids, exchange_param(exchange, STR("identifier")),
                 corpus->count, &record))
        version = corpus_current(corpus, record, exchange->now_us);
    if (version == CORPUS_NONE)
        return fail(exchange, &request->mount, "idDoesNotExist", "The given id does not exist",
                    err);
    begin(exchange, true);
    buf_add(&exchange->reply, STR("<GetRecord>"));
    body_write(request->mount.form, world, &exchange->reply, version, answer_flaw(exchange, 0, 1));
    buf_add(&exchange->reply, STR("</GetRecord>"));
    return end(exchange, err);
}

/* Each argument of the protocol at most once, and no others. */
static bool has_bad_arguments(const struct exchange *exchange)
{
    static const struct str names[] = {
        STR_INIT("verb"), STR_INIT("metadataPrefix"),  STR_INIT("from"),       STR_INIT("until"),
        STR_INIT("set"),  STR_INIT("resumptionToken"), STR_INIT("identifier"),
    };

    for (size_t i = 0; i < exchange->param_count; i++) {
        bool known = false;

        for (size_t j = 0; j < ARRAY_LEN(names); j++)
            known = known || str_eq(names[j], exchange->params[i].name);
        if (!known)
            return true;
        for (size_t j = 0; j < i; j++) {
            if (str_eq(exchange->params[i].name, exchange->params[j].name))
                return true;
        }
    }
    return false;
}

bool protocol_oai(struct sim_world *world, struct exchange *exchange, struct error *err)
{
    struct request request = { .verb = exchange_param(exchange, STR("verb")) };

    if (!take_mount(exchange->path, &request.mount)) {
        exchange_answer(exchange, 404, STR("text/html"),
                        STR("<html><body>Not found</body></html>"));
        return buf_ok(&exchange->reply, err);
    }
    if (has_bad_arguments(exchange))
        return fail(exchange, &request.mount, "badArgument",
                    "an argument is unknown or given twice", err);
    if (exchange->twist == TWIST_BODY_ERROR)
        return fail(exchange, &request.mount, "badArgument", "The database is not available", err);
    if (str_eq(request.verb, STR("Identify")))
        return identify(world, exchange, &request, err);
    if (str_eq(request.verb, STR("ListMetadataFormats")))
        return list_formats(exchange, &request, err);
    if (str_eq(request.verb, STR("ListSets")))
        return fail(exchange, &request.mount, "noSetHierarchy",
                    "This repository does not support sets", err);
    if (str_eq(request.verb, STR("GetRecord")))
        return get_record(world, exchange, &request, err);
    if (str_eq(request.verb, STR("ListRecords")) || str_eq(request.verb, STR("ListIdentifiers")))
        return take_list(world, exchange, &request, err);
    return fail(exchange, &request.mount, "badVerb", "Illegal OAI verb", err);
}
