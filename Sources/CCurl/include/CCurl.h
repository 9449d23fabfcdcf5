// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// Declares the part of libcurl's stable ABI that CurlProvider uses, so that building needs no development package.
// Numbers and signatures are libcurl's own (include/curl/*.h, 7.68 and later) and never change within libcurl.so.4.

#ifndef APICONNECTOR_CCURL_H
#define APICONNECTOR_CCURL_H

#include "CCoding.h"

#if defined(__linux__)

#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

// Opaque handles. Each kind has its own type, so that one kind cannot be passed in place of another.
typedef struct ccurl_easy ccurl_easy;
typedef struct ccurl_multi ccurl_multi;
typedef struct ccurl_share ccurl_share;

struct curl_slist {
    char *data;
    struct curl_slist *next;
};

struct curl_version_info_data {
    int age;
    const char *version;
    unsigned int version_num;
    const char *host;
    int features;
    const char *ssl_version;
    long ssl_version_num;
    const char *libz_version;
    const char *const *protocols;
    const char *ares;
    int ares_num;
    const char *libidn;
    int iconv_ver_num;
    const char *libssh_version;
    unsigned int brotli_ver_num;
    const char *brotli_version;
    unsigned int nghttp2_ver_num;
    const char *nghttp2_version;
    const char *quic_version;
    // From age 6 on, libcurl 7.70.
    const char *cainfo;
    const char *capath;
    // More fields follow, which CurlProvider does not read.
};

// The value of CURLINFO_TLS_SSL_PTR.
struct ccurl_tls_session {
    int backend;
    // With OpenSSL, an SSL *; null without a TLS connection.
    void *internals;
};

struct CURLMsg {
    int msg;
    ccurl_easy *easy_handle;
    union {
        void *whatever;
        int result;
    } data;
};

struct curl_sockaddr {
    int family;
    int socktype;
    int protocol;
    unsigned int addrlen;
    struct sockaddr addr;
};

// <pthread.h> declares this function only if _GNU_SOURCE is defined.
int pthread_setname_np(unsigned long thread, const char *name);

// libcurl's functions without a variable argument list.
int curl_global_init(long flags);
struct curl_version_info_data *curl_version_info(int age);
const char *curl_easy_strerror(int code);

ccurl_easy *curl_easy_init(void);
void curl_easy_cleanup(ccurl_easy *easy);
int curl_easy_pause(ccurl_easy *easy, int bitmask);

ccurl_multi *curl_multi_init(void);
int curl_multi_cleanup(ccurl_multi *multi);
int curl_multi_add_handle(ccurl_multi *multi, ccurl_easy *easy);
int curl_multi_remove_handle(ccurl_multi *multi, ccurl_easy *easy);
int curl_multi_socket_action(ccurl_multi *multi, int socket, int events, int *running);
struct CURLMsg *curl_multi_info_read(ccurl_multi *multi, int *remaining);

ccurl_share *curl_share_init(void);
int curl_share_cleanup(ccurl_share *share);

// libcurl's callbacks.
typedef size_t (*ccurl_data_callback)(char *bytes, size_t size, size_t count, void *context);
typedef int (*ccurl_seek_callback)(void *context, int64_t offset, int origin);
typedef int (*ccurl_open_callback)(void *context, int purpose, struct curl_sockaddr *address);
typedef int (*ccurl_close_callback)(void *context, int socket);
typedef int (*ccurl_resolve_callback)(void *state, void *reserved, void *context);
typedef int (*ccurl_context_callback)(ccurl_easy *easy, void *ssl_context, void *context);
typedef int (*ccurl_prereq_callback)(void *context, char *remote_ip, char *local_ip, int remote_port, int local_port);
typedef int (*ccurl_debug_callback)(ccurl_easy *easy, int type, char *text, size_t count, void *context);
typedef int (*ccurl_progress_callback)(void *context, int64_t down_total, int64_t down, int64_t up_total, int64_t up);
typedef int (*ccurl_socket_callback)(ccurl_easy *easy, int socket, int what, void *context, void *socket_context);
typedef int (*ccurl_timer_callback)(ccurl_multi *multi, long milliseconds, void *context);

// Functions and callbacks of OpenSSL, which libcurl has loaded.
typedef void (*ccurl_ssl_info_callback)(const void *ssl, int where, int value);
typedef void (*ccurl_ssl_set_info_callback)(void *ssl, ccurl_ssl_info_callback callback);
typedef void (*ccurl_ssl_message_callback)(
    int is_written, int version, int type, const void *bytes, size_t count, void *ssl, void *context);
typedef void (*ccurl_ssl_set_message_callback)(void *ssl_context, ccurl_ssl_message_callback callback);
typedef void *(*ccurl_ssl_get_context)(const void *ssl);
typedef const char *(*ccurl_ssl_get_version)(const void *ssl);

// libcurl's measurements of a transfer; the times are in microseconds since the transfer began.
struct ccurl_figures {
    int64_t name_lookup;
    int64_t connect;
    int64_t app_connect;
    int64_t uploaded;
    int64_t downloaded;
    long header_size;
    long http_version;
};

// Reads all measurements in one call; the times of a connection only if the connection is new, and the number of uploaded
// bytes only if the request has a body.
void ccurl_easy_get_figures(ccurl_easy *easy, int is_connection_new, int has_body, struct ccurl_figures *figures);

// Swift cannot call functions with a variable argument list. So there is one function per type of argument.
int ccurl_easy_set_long(ccurl_easy *easy, long option, long value);
int ccurl_easy_set_offset(ccurl_easy *easy, long option, int64_t value);
int ccurl_easy_set_text(ccurl_easy *easy, long option, const char *value);
int ccurl_easy_set_pointer(ccurl_easy *easy, long option, void *value);
int ccurl_easy_set_list(ccurl_easy *easy, long option, struct curl_slist *value);
int ccurl_easy_set_share(ccurl_easy *easy, long option, ccurl_share *value);
int ccurl_easy_set_data_callback(ccurl_easy *easy, long option, ccurl_data_callback value);
int ccurl_easy_set_seek_callback(ccurl_easy *easy, long option, ccurl_seek_callback value);
int ccurl_easy_set_open_callback(ccurl_easy *easy, long option, ccurl_open_callback value);
int ccurl_easy_set_close_callback(ccurl_easy *easy, long option, ccurl_close_callback value);
int ccurl_easy_set_resolve_callback(ccurl_easy *easy, long option, ccurl_resolve_callback value);
int ccurl_easy_set_context_callback(ccurl_easy *easy, long option, ccurl_context_callback value);
int ccurl_easy_set_prereq_callback(ccurl_easy *easy, long option, ccurl_prereq_callback value);
int ccurl_easy_set_debug_callback(ccurl_easy *easy, long option, ccurl_debug_callback value);
int ccurl_easy_set_progress_callback(ccurl_easy *easy, long option, ccurl_progress_callback value);
int ccurl_easy_get_pointer(ccurl_easy *easy, long info, void **value);
int ccurl_easy_get_long(ccurl_easy *easy, long info, long *value);
int ccurl_easy_get_offset(ccurl_easy *easy, long info, int64_t *value);
int ccurl_multi_set_long(ccurl_multi *multi, long option, long value);
int ccurl_multi_set_pointer(ccurl_multi *multi, long option, void *value);
int ccurl_multi_set_socket_callback(ccurl_multi *multi, long option, ccurl_socket_callback value);
int ccurl_multi_set_timer_callback(ccurl_multi *multi, long option, ccurl_timer_callback value);
int ccurl_share_set(ccurl_share *share, long option, long value);

// Options of an easy handle.
enum {
    CCURLOPT_WRITEDATA = 10001,
    CCURLOPT_URL = 10002,
    CCURLOPT_PROXY = 10004,
    CCURLOPT_READDATA = 10009,
    CCURLOPT_ERRORBUFFER = 10010,
    CCURLOPT_WRITEFUNCTION = 20011,
    CCURLOPT_READFUNCTION = 20012,
    CCURLOPT_COOKIE = 10022,
    CCURLOPT_HTTPHEADER = 10023,
    CCURLOPT_SSLCERT = 10025,
    CCURLOPT_KEYPASSWD = 10026,
    CCURLOPT_HEADERDATA = 10029,
    CCURLOPT_COOKIEFILE = 10031,
    CCURLOPT_CUSTOMREQUEST = 10036,
    CCURLOPT_VERBOSE = 41,
    CCURLOPT_NOPROGRESS = 43,
    CCURLOPT_NOBODY = 44,
    CCURLOPT_UPLOAD = 46,
    CCURLOPT_CAINFO = 10065,
    CCURLOPT_FORBID_REUSE = 75,
    CCURLOPT_XFERINFODATA = 10057,
    CCURLOPT_HEADERFUNCTION = 20079,
    CCURLOPT_DEBUGFUNCTION = 20094,
    CCURLOPT_DEBUGDATA = 10095,
    CCURLOPT_HTTP_VERSION = 84,
    CCURLOPT_SSLKEY = 10087,
    CCURLOPT_CAPATH = 10097,
    CCURLOPT_FRESH_CONNECT = 74,
    CCURLOPT_BUFFERSIZE = 98,
    CCURLOPT_NOSIGNAL = 99,
    CCURLOPT_SHARE = 10100,
    CCURLOPT_PRIVATE = 10103,
    CCURLOPT_INFILESIZE_LARGE = 30115,
    CCURLOPT_POSTFIELDSIZE_LARGE = 30120,
    CCURLOPT_SSL_CTX_FUNCTION = 20108,
    CCURLOPT_SSL_CTX_DATA = 10109,
    CCURLOPT_SSL_SESSIONID_CACHE = 150,
    CCURLOPT_CONNECTTIMEOUT_MS = 156,
    CCURLOPT_OPENSOCKETFUNCTION = 20163,
    CCURLOPT_OPENSOCKETDATA = 10164,
    CCURLOPT_COPYPOSTFIELDS = 10165,
    CCURLOPT_SEEKFUNCTION = 20167,
    CCURLOPT_SEEKDATA = 10168,
    CCURLOPT_NOPROXY = 10177,
    CCURLOPT_CLOSESOCKETFUNCTION = 20208,
    CCURLOPT_CLOSESOCKETDATA = 10209,
    CCURLOPT_PINNEDPUBLICKEY = 10230,
    CCURLOPT_PATH_AS_IS = 234,
    CCURLOPT_PIPEWAIT = 237,
    CCURLOPT_SUPPRESS_CONNECT_HEADERS = 265,
    CCURLOPT_RESOLVER_START_FUNCTION = 20272,
    CCURLOPT_RESOLVER_START_DATA = 10273,
    CCURLOPT_XFERINFOFUNCTION = 20219,
    CCURLOPT_PREREQFUNCTION = 20312,
    CCURLOPT_PREREQDATA = 10313,
    CCURLOPT_MAXLIFETIME_CONN = 314,
    CCURLOPT_CA_CACHE_TIMEOUT = 321,
    CCURLOPT_QUICK_EXIT = 322,
};

// The information that an easy handle can return.
enum {
    CCURLINFO_PRIVATE = 0x100000 + 21,
    CCURLINFO_HEADER_SIZE = 0x200000 + 11,
    CCURLINFO_PRIMARY_IP = 0x100000 + 32,
    CCURLINFO_LOCAL_IP = 0x100000 + 41,
    CCURLINFO_REQUEST_SIZE = 0x200000 + 12,
    CCURLINFO_HTTP_CONNECTCODE = 0x200000 + 22,
    CCURLINFO_OS_ERRNO = 0x200000 + 25,
    CCURLINFO_PRIMARY_PORT = 0x200000 + 40,
    CCURLINFO_LOCAL_PORT = 0x200000 + 42,
    CCURLINFO_HTTP_VERSION = 0x200000 + 46,
    CCURLINFO_TLS_SSL_PTR = 0x400000 + 45,
    CCURLINFO_SIZE_UPLOAD_T = 0x600000 + 7,
    CCURLINFO_SIZE_DOWNLOAD_T = 0x600000 + 8,
    CCURLINFO_CONTENT_LENGTH_DOWNLOAD_T = 0x600000 + 15,
    CCURLINFO_NAMELOOKUP_TIME_T = 0x600000 + 51,
    CCURLINFO_CONNECT_TIME_T = 0x600000 + 52,
    CCURLINFO_PRETRANSFER_TIME_T = 0x600000 + 53,
    CCURLINFO_STARTTRANSFER_TIME_T = 0x600000 + 54,
    CCURLINFO_APPCONNECT_TIME_T = 0x600000 + 56,
};

// Options of a multi handle and of a share handle.
enum {
    CCURLMOPT_SOCKETFUNCTION = 20001,
    CCURLMOPT_SOCKETDATA = 10002,
    CCURLMOPT_PIPELINING = 3,
    CCURLMOPT_TIMERFUNCTION = 20004,
    CCURLMOPT_TIMERDATA = 10005,
    CCURLMOPT_MAXCONNECTS = 6,
    CCURLMOPT_MAX_HOST_CONNECTIONS = 7,
    CCURLMOPT_MAX_TOTAL_CONNECTIONS = 13,
    CCURLMOPT_RESOLVE_THREADS_MAX = 20,
    CCURLMOPT_QUICK_EXIT = 21,
    CCURLSHOPT_SHARE = 1,
    CCURL_LOCK_DATA_COOKIE = 2,
    CCURL_LOCK_DATA_SSL_SESSION = 4,
};

// Values of options, results and flags.
enum {
    CCURL_GLOBAL_ALL = 3,
    CCURL_VERSION_SSL = 1 << 2,
    CCURL_SSL_BACKEND_OPENSSL = 1,
    // OpenSSL's event for an alert that it has read. The event's value is the alert's level times 256 plus the alert's
    // description. The description 0 is close_notify.
    CCURL_SSL_CB_READ_ALERT = 0x4004,
    CCURL_HTTP_VERSION_1_0 = 1,
    CCURL_HTTP_VERSION_1_1 = 2,
    CCURL_HTTP_VERSION_2TLS = 4,
    CCURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE = 5,
    CCURLPIPE_MULTIPLEX = 2,
    CCURLMSG_DONE = 1,
    CCURL_ERROR_SIZE = 256,
    CCURL_WRITEFUNC_PAUSE = 0x10000001,
    CCURL_PAUSE_RECV = 1,
    CCURL_PAUSE_SEND = 4,
    CCURL_READFUNC_ABORT = 0x10000000,
    CCURL_READFUNC_PAUSE = 0x10000001,
    CCURL_LOG_TEXT = 0,
    CCURL_PREREQFUNC_OK = 0,
    CCURL_PREREQFUNC_ABORT = 1,
    CCURL_SEEKFUNC_OK = 0,
    CCURL_SEEKFUNC_CANTSEEK = 2,
    CCURL_POLL_IN = 1,
    CCURL_POLL_OUT = 2,
    CCURL_POLL_INOUT = 3,
    CCURL_POLL_REMOVE = 4,
    CCURL_CSELECT_IN = 1,
    CCURL_CSELECT_OUT = 2,
    CCURL_CSELECT_ERR = 4,
    CCURL_SOCKET_TIMEOUT = -1,
    CCURL_SOCKET_BAD = -1,
};

#endif
#endif
