/* Notices by HTTP and by mail. */
#include "adapter/webhook/alert.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/webhook/sign.h"
#include "data/base64.h"
#include "data/hash.h"
#include "data/json.h"
#include "data/mail_text.h"
#include "data/redact.h"
#include "data/url.h"

#define REPLY_BYTES_MAX (INT64_C(64) << 10)
enum { HEADERS_MAX = 6, SIGNED_URL_BYTES_MAX = 2 * SECRET_BYTES_MAX };

struct sender {
    struct alert_sender port; /* first */
    struct alert_sender_parts parts;
    struct http *http; /* NULL: not yet */
};

/* What one notice is sent with; its secrets are wiped. */
struct sending {
    struct sender *sender;
    struct arena *arena;
    const struct alert_receiver *receiver;
    const struct alert_message *message;
    struct secret url;
    struct secret token;
    struct secret signing;
    struct secret user;
    struct secret password;
};

/* ---- secrets ---- */

/* A setting that may be a value or a reference; empty: nothing. */
static bool read_value(struct sending *s, struct str setting, struct secret *value,
                       struct error *err)
{
    value->len = 0;
    if (setting.len == 0)
        return true;
    if (secret_is_reference(setting))
        return secret_get(s->sender->parts.secrets, setting, value, err);
    if (setting.len > sizeof(value->bytes))
        return error_set(err, ERROR_FATAL, "alert.spec", "a setting of the receiver is too long");
    memcpy(value->bytes, setting.data, setting.len);
    value->len = setting.len;
    return true;
}

static bool read_secrets(struct sending *s, struct error *err)
{
    return read_value(s, s->receiver->url, &s->url, err) &&
           read_value(s, s->receiver->token, &s->token, err) &&
           read_value(s, s->receiver->signing, &s->signing, err) &&
           read_value(s, s->receiver->user, &s->user, err) &&
           read_value(s, s->receiver->password, &s->password, err);
}

/* A server may repeat what it was sent. */
static void clean(struct sending *s, struct error *err)
{
    struct secret *const all[] = { &s->token, &s->signing, &s->password };

    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        redact_error(err, secret_str(all[i]));
    if (secret_is_reference(s->receiver->url))
        redact_error(err, secret_str(&s->url));
}

static void wipe(struct sending *s)
{
    secret_wipe(&s->url);
    secret_wipe(&s->token);
    secret_wipe(&s->signing);
    secret_wipe(&s->user);
    secret_wipe(&s->password);
    arena_wipe(s->arena);
}

/* ---- requests ---- */

static void add_header(struct http_request *request, struct http_header *headers, struct str name,
                       struct str value)
{
    headers[request->header_count++] = (struct http_header){ name, value };
}

/* As messages of a bus are signed. */
static bool sign_webhook(struct sending *s, struct http_request *request,
                         struct http_header *headers, struct error *err)
{
    const int64_t at_s = clock_now_us(s->sender->parts.clock) / US_PER_SECOND;
    const struct webhook_signed text = { s->message->id, at_s, s->message->body };
    struct webhook_key key;
    struct str signature;
    bool ok;

    add_header(request, headers, STR("webhook-id"), s->message->id);
    add_header(request, headers, STR("webhook-timestamp"),
               arena_printf(s->arena, "%" PRId64, at_s));
    if (s->token.len > 0)
        add_header(request, headers, STR("authorization"),
                   arena_printf(s->arena, "Bearer %.*s", STR_ARG(secret_str(&s->token))));
    if (s->signing.len == 0)
        return true;
    if (!webhook_key_read(secret_str(&s->signing), &key, err))
        return false;
    ok = webhook_sign(s->arena, &key, &text, &signature, err);
    webhook_key_wipe(&key);
    if (ok)
        add_header(request, headers, STR("webhook-signature"), signature);
    return ok;
}

/* "timestamp\nkey" under the key, in base64, in the query. */
static bool sign_dingtalk(struct sending *s, struct http_request *request, struct error *err)
{
    const int64_t at_ms = clock_now_us(s->sender->parts.clock) / US_PER_MS;
    const struct str key = secret_str(&s->signing);
    const struct str text = arena_printf(s->arena, "%" PRId64 "\n%.*s", at_ms, STR_ARG(key));
    struct hash_sum sum;
    struct buf url, sign;

    if (key.len == 0)
        return true;
    if (text.data == NULL)
        return arena_error(s->arena, err);
    if (!hash_hmac(key, text, &sum, err))
        return false;
    buf_init(&sign, s->arena, 64);
    base64_encode(&sign, (struct str){ (const char *)sum.bytes, HASH_BYTES });
    buf_init(&url, s->arena, SIGNED_URL_BYTES_MAX);
    buf_add(&url, request->url);
    buf_printf(&url, "%ctimestamp=%" PRId64 "&sign=",
               str_find_char(request->url, '?') < request->url.len ? '&' : '?', at_ms);
    url_encode(&url, buf_str(&sign), URL_QUERY);
    request->url = buf_str(&url);
    return buf_ok(&sign, err) && buf_ok(&url, err);
}

/* ---- answers ---- */

/* Without the URL: those of Slack and DingTalk are secrets. */
static bool tell_failure(const struct error *cause, struct error *err)
{
    const bool is_timeout = strncmp(cause->code, "http.timeout", 12) == 0;
    const bool is_fatal = cause->level == ERROR_FATAL;
    const struct error was = *cause; /* may be err itself */

    return error_set(err, is_fatal ? ERROR_FATAL : ERROR_TRANSIENT,
                     is_fatal     ? "alert.tls"
                     : is_timeout ? "alert.timeout"
                                  : "alert.lost",
                     "the receiver cannot be reached: %s", was.code);
}

static bool judge_status(int status, struct error *err)
{
    if (status >= 200 && status < 300)
        return true;
    if (status == 401 || status == 403 || status == 407)
        return error_set(err, ERROR_FATAL, "alert.auth",
                         "the receiver refuses the credential: status %d", status);
    if (status == 408 || status == 425 || status == 429 || status >= 500)
        return error_set(err, ERROR_TRANSIENT, "alert.busy", "the receiver answers with status %d",
                         status);
    return error_set(err, ERROR_FATAL, "alert.refused", "the receiver answers with status %d%s",
                     status, status < 400 ? ": redirects are not followed" : "");
}

static bool judge_dingtalk(struct arena *arena, struct str body, struct error *err)
{
    struct json_doc doc;
    struct error ignored;
    int64_t code = -1;

    if (json_parse(&doc, arena, body, &ignored) &&
        json_i64(&doc, json_get(&doc, json_root(&doc), STR("errcode")), &code) && code == 0)
        return true;
    return error_set(err, code == 130101 || code == -1 ? ERROR_TRANSIENT : ERROR_FATAL,
                     code == 130101 || code == -1 ? "alert.busy" : "alert.refused",
                     "DingTalk did not take it: errcode %" PRId64, code);
}

static bool post(struct sending *s, struct error *err)
{
    const struct alert_receiver *r = s->receiver;
    struct http_header headers[HEADERS_MAX];
    struct http_request request = {
        .method = STR("POST"),
        .url = secret_str(&s->url),
        .body = s->message->body,
        .headers = headers,
        .allow_plain_http = r->allow_plain,
        .ca_file = r->ca,
        .timeouts = { .connect_us = r->timeout_us,
                      .idle_us = r->timeout_us,
                      .total_us = r->timeout_us },
        .limits = { .body_bytes_max = REPLY_BYTES_MAX, .inflated_bytes_max = REPLY_BYTES_MAX },
    };
    struct http_response reply;
    bool ok = true;

    add_header(&request, headers, STR("content-type"), STR("application/json; charset=utf-8"));
    if (r->form == ALERT_FORM_WEBHOOK)
        ok = sign_webhook(s, &request, headers, err);
    else if (r->form == ALERT_FORM_DINGTALK)
        ok = sign_dingtalk(s, &request, err);
    if (!ok)
        return false;
    if (s->arena->failed)
        return arena_error(s->arena, err);
    if (s->sender->http == NULL && !s->sender->parts.open_http(&s->sender->http, err))
        return false;
    if (!http_send(s->sender->http, s->arena, &request, &reply, err))
        return reply.status == 0 ? tell_failure(err, err) : judge_status(reply.status, err);
    return judge_status(reply.status, err) &&
           (r->form != ALERT_FORM_DINGTALK || judge_dingtalk(s->arena, reply.body, err));
}

static bool send_mail(struct sending *s, struct error *err)
{
    const struct alert_receiver *r = s->receiver;
    const struct mail_parts parts = { .id = s->message->id,
                                      .from = r->from,
                                      .to = r->to,
                                      .to_count = r->to_count,
                                      .subject = s->message->title,
                                      .body = s->message->body,
                                      .at_us = clock_now_us(s->sender->parts.clock) };
    struct mail mail = { .url = secret_str(&s->url),
                         .user = secret_str(&s->user),
                         .password = secret_str(&s->password),
                         .from = r->from,
                         .to = r->to,
                         .to_count = r->to_count,
                         .allow_plain = r->allow_plain,
                         .ca_file = r->ca,
                         .timeout_us = r->timeout_us };

    return mail_text(s->arena, &parts, &mail.text, err) && s->sender->parts.mail(&mail, err);
}

/* ---- the port ---- */

#define ARENA_BYTES_MAX ((size_t)4 << 20)

static bool send_one(struct alert_sender *port, const struct alert_receiver *receiver,
                     const struct alert_message *message, struct error *err)
{
    struct sending *s = calloc(1, sizeof(*s));
    struct arena own;
    bool ok;

    if (s == NULL)
        return error_set(err, ERROR_TRANSIENT, "memory.system", "no memory for an alert");
    arena_init(&own, ARENA_BYTES_MAX);
    *s = (struct sending){
        .sender = (struct sender *)port, .arena = &own, .receiver = receiver, .message = message
    };
    ok = read_secrets(s, err) &&
         (receiver->form == ALERT_FORM_EMAIL ? send_mail(s, err) : post(s, err));
    if (!ok)
        clean(s, err);
    wipe(s);
    arena_release(&own);
    free(s);
    return ok;
}

static void close_sender(struct alert_sender *port)
{
    struct sender *sender = (struct sender *)port;

    http_close(sender->http);
    free(sender);
}

static const struct alert_sender_ops OPS = { .send = send_one, .close = close_sender };

bool webhook_alert_open(const struct alert_sender_parts *parts, struct alert_sender **sender,
                        struct error *err)
{
    struct sender *own = calloc(1, sizeof(*own));

    *sender = NULL;
    if (own == NULL)
        return error_set(err, ERROR_TRANSIENT, "memory.system", "no memory for alerts");
    own->port.ops = &OPS;
    own->parts = *parts;
    *sender = &own->port;
    return true;
}
