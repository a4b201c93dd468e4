/* One mail, by an easy handle of its own. */
#include "adapter/curl/mail.h"

#include <curl/curl.h>
#include <string.h>

#include "base/arena.h"
#include "base/instant.h"

#define ARENA_BYTES_MAX ((size_t)256 << 10)

struct upload {
    struct str rest;
};

static size_t give(char *room, size_t size, size_t count, void *context)
{
    struct upload *upload = context;
    const size_t len = size * count < upload->rest.len ? size * count : upload->rest.len;

    memcpy(room, upload->rest.data, len);
    upload->rest = str_slice(upload->rest, len, upload->rest.len);
    return len;
}

/* ---- what went wrong ---- */

static const char *code_of_reply(long reply)
{
    return reply >= 400 && reply < 500 ? "alert.busy" : "alert.refused";
}

static bool tell(CURL *easy, CURLcode result, struct error *err)
{
    long reply = 0;

    (void)curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &reply);
    switch (result) {
    case CURLE_LOGIN_DENIED:
        return error_set(err, ERROR_FATAL, "alert.auth",
                         "the mail server refuses user and password");
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_USE_SSL_FAILED:
        return error_set(err, ERROR_FATAL, "alert.tls",
                         "the mail server offers no TLS that is trusted: %s",
                         curl_easy_strerror(result));
    case CURLE_OPERATION_TIMEDOUT:
        return error_set(err, ERROR_TRANSIENT, "alert.timeout",
                         "the mail server did not answer in time");
    default:
        break;
    }
    if (reply >= 400)
        return error_set(err, reply < 500 ? ERROR_TRANSIENT : ERROR_FATAL, code_of_reply(reply),
                         "the mail server answered with %ld", reply);
    return error_set(err, ERROR_TRANSIENT, "alert.lost", "the mail server cannot be reached: %s",
                     curl_easy_strerror(result));
}

/* ---- one mail ---- */

static bool add_recipients(const struct mail *mail, struct arena *arena, struct curl_slist **list,
                           struct error *err)
{
    for (size_t i = 0; i < mail->to_count; i++) {
        const struct str text = arena_printf(arena, "<%.*s>", STR_ARG(mail->to[i]));
        struct curl_slist *longer = text.data != NULL ? curl_slist_append(*list, text.data) : NULL;

        if (longer == NULL)
            return error_set(err, ERROR_TRANSIENT, "memory.system", "no memory for a mail");
        *list = longer;
    }
    return true;
}

static bool set_up(CURL *easy, const struct mail *mail, struct arena *arena, struct upload *upload,
                   struct error *err)
{
    const struct str url = arena_copy(arena, mail->url);
    const struct str from = arena_printf(arena, "<%.*s>", STR_ARG(mail->from));
    const struct str user = arena_copy(arena, mail->user);
    const struct str password = arena_copy(arena, mail->password);
    const struct str ca = arena_copy(arena, mail->ca_file);
    CURLcode result = CURLE_OK;

    if (arena->failed)
        return arena_error(arena, err);
    result |= curl_easy_setopt(easy, CURLOPT_URL, url.data);
    result |= curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    result |= curl_easy_setopt(easy, CURLOPT_PROXY, "");
    result |= curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    result |= curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    result |= curl_easy_setopt(easy, CURLOPT_USE_SSL,
                               mail->allow_plain ? (long)CURLUSESSL_TRY : (long)CURLUSESSL_ALL);
    result |= curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)(mail->timeout_us / US_PER_MS));
    result |= curl_easy_setopt(easy, CURLOPT_MAIL_FROM, from.data);
    result |= curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
    result |= curl_easy_setopt(easy, CURLOPT_READFUNCTION, give);
    result |= curl_easy_setopt(easy, CURLOPT_READDATA, upload);
    if (ca.len > 0)
        result |= curl_easy_setopt(easy, CURLOPT_CAINFO, ca.data);
    if (user.len > 0) {
        result |= curl_easy_setopt(easy, CURLOPT_USERNAME, user.data);
        result |= curl_easy_setopt(easy, CURLOPT_PASSWORD, password.data);
    }
    return result == CURLE_OK ||
           error_set(err, ERROR_FATAL, "http.module", "libcurl refuses an option of mail");
}

bool curl_mail(const struct mail *mail, struct error *err)
{
    struct upload upload = { mail->text };
    struct curl_slist *recipients = NULL;
    CURL *easy = curl_easy_init();
    struct arena arena;
    bool ok = false;

    if (easy == NULL)
        return error_set(err, ERROR_TRANSIENT, "memory.system", "no memory for a mail");
    arena_init(&arena, ARENA_BYTES_MAX);
    if (mail->allow_plain && mail->user.len > 0 && !str_starts(mail->url, STR("smtps://")))
        (void)error_set(err, ERROR_FATAL, "alert.tls",
                        "a password is not sent without TLS: remove allow_plain, or the password");
    else if (add_recipients(mail, &arena, &recipients, err) &&
             set_up(easy, mail, &arena, &upload, err)) {
        CURLcode result = curl_easy_setopt(easy, CURLOPT_MAIL_RCPT, recipients);

        if (result == CURLE_OK)
            result = curl_easy_perform(easy);
        ok = result == CURLE_OK || tell(easy, result, err);
    }
    curl_slist_free_all(recipients);
    curl_easy_cleanup(easy);
    arena_wipe(&arena);
    arena_release(&arena);
    return ok;
}
