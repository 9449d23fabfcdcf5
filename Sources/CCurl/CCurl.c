// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#include "CCurl.h"

#if defined(__linux__)

extern int curl_easy_setopt(ccurl_easy *easy, int option, ...);
extern int curl_easy_getinfo(ccurl_easy *easy, int info, ...);
extern int curl_multi_setopt(ccurl_multi *multi, int option, ...);
extern int curl_share_setopt(ccurl_share *share, int option, ...);

#define EASY_SETTER(name, type) \
    int name(ccurl_easy *easy, long option, type value) { return curl_easy_setopt(easy, (int)option, value); }
#define EASY_GETTER(name, type) \
    int name(ccurl_easy *easy, long info, type value) { return curl_easy_getinfo(easy, (int)info, value); }
#define MULTI_SETTER(name, type) \
    int name(ccurl_multi *multi, long option, type value) { return curl_multi_setopt(multi, (int)option, value); }

EASY_SETTER(ccurl_easy_set_long, long)
EASY_SETTER(ccurl_easy_set_offset, int64_t)
EASY_SETTER(ccurl_easy_set_text, const char *)
EASY_SETTER(ccurl_easy_set_pointer, void *)
EASY_SETTER(ccurl_easy_set_list, struct curl_slist *)
EASY_SETTER(ccurl_easy_set_share, ccurl_share *)
EASY_SETTER(ccurl_easy_set_data_callback, ccurl_data_callback)
EASY_SETTER(ccurl_easy_set_seek_callback, ccurl_seek_callback)
EASY_SETTER(ccurl_easy_set_open_callback, ccurl_open_callback)
EASY_SETTER(ccurl_easy_set_close_callback, ccurl_close_callback)
EASY_SETTER(ccurl_easy_set_resolve_callback, ccurl_resolve_callback)
EASY_SETTER(ccurl_easy_set_context_callback, ccurl_context_callback)
EASY_SETTER(ccurl_easy_set_prereq_callback, ccurl_prereq_callback)
EASY_SETTER(ccurl_easy_set_debug_callback, ccurl_debug_callback)
EASY_SETTER(ccurl_easy_set_progress_callback, ccurl_progress_callback)
EASY_GETTER(ccurl_easy_get_pointer, void **)
EASY_GETTER(ccurl_easy_get_long, long *)
EASY_GETTER(ccurl_easy_get_offset, int64_t *)
MULTI_SETTER(ccurl_multi_set_long, long)
MULTI_SETTER(ccurl_multi_set_pointer, void *)
MULTI_SETTER(ccurl_multi_set_socket_callback, ccurl_socket_callback)
MULTI_SETTER(ccurl_multi_set_timer_callback, ccurl_timer_callback)

void ccurl_easy_get_figures(ccurl_easy *easy, int is_connection_new, int has_body,
                            struct ccurl_figures *figures) {
    if (is_connection_new) {
        curl_easy_getinfo(easy, CCURLINFO_NAMELOOKUP_TIME_T, &figures->name_lookup);
        curl_easy_getinfo(easy, CCURLINFO_CONNECT_TIME_T, &figures->connect);
        curl_easy_getinfo(easy, CCURLINFO_APPCONNECT_TIME_T, &figures->app_connect);
    }
    if (has_body) {
        curl_easy_getinfo(easy, CCURLINFO_SIZE_UPLOAD_T, &figures->uploaded);
    }
    curl_easy_getinfo(easy, CCURLINFO_SIZE_DOWNLOAD_T, &figures->downloaded);
    curl_easy_getinfo(easy, CCURLINFO_HEADER_SIZE, &figures->header_size);
    curl_easy_getinfo(easy, CCURLINFO_HTTP_VERSION, &figures->http_version);
}

int ccurl_share_set(ccurl_share *share, long option, long value) {
    return curl_share_setopt(share, (int)option, (int)value);
}

#endif
