// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#include "LibcurlGets.h"

#if defined(__linux__)

// The declarations of ApiConnector's libcurl module, which is not a product of the package. ApiConnector, which the
// goals link, has the definitions.
#include "../../../Sources/CCurl/include/CCurl.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    INFO_RESPONSE_CODE = 0x200000 + 2,
    EVENT_COUNT = 64,
};

struct libcurl_gets {
    ccurl_multi *multi;
    int epoll;
    // When to call libcurl without an event, in seconds of now(); negative for never.
    double timer;
    int in_flight;
    ccurl_easy **easies;
    long long byte_count;
};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static size_t take_body(char *bytes, size_t size, size_t count, void *context) {
    libcurl_gets *gets = context;
    (void)bytes;
    gets->byte_count += (long long)(size * count);
    return size * count;
}

static int watch_socket(ccurl_easy *easy, int socket, int what, void *context, void *socket_context) {
    libcurl_gets *gets = context;
    struct epoll_event event = {.data.fd = socket};
    (void)easy;
    (void)socket_context;
    if (what == CCURL_POLL_REMOVE) {
        epoll_ctl(gets->epoll, EPOLL_CTL_DEL, socket, NULL);
        return 0;
    }
    if (what != CCURL_POLL_OUT) event.events |= EPOLLIN;
    if (what != CCURL_POLL_IN) event.events |= EPOLLOUT;
    if (epoll_ctl(gets->epoll, EPOLL_CTL_ADD, socket, &event) != 0 && errno == EEXIST) {
        epoll_ctl(gets->epoll, EPOLL_CTL_MOD, socket, &event);
    }
    return 0;
}

static int set_timer(ccurl_multi *multi, long milliseconds, void *context) {
    libcurl_gets *gets = context;
    (void)multi;
    gets->timer = milliseconds < 0 ? -1 : now() + (double)milliseconds * 1e-3;
    return 0;
}

static ccurl_easy *make_easy(libcurl_gets *gets, const char *url) {
    ccurl_easy *easy = curl_easy_init();
    if (easy == NULL) return NULL;
    int flaw = ccurl_easy_set_text(easy, CCURLOPT_URL, url);
    flaw |= ccurl_easy_set_text(easy, CCURLOPT_PROXY, "");
    flaw |= ccurl_easy_set_long(easy, CCURLOPT_NOSIGNAL, 1);
    flaw |= ccurl_easy_set_data_callback(easy, CCURLOPT_WRITEFUNCTION, take_body);
    flaw |= ccurl_easy_set_pointer(easy, CCURLOPT_WRITEDATA, gets);
    if (flaw == 0) return easy;
    curl_easy_cleanup(easy);
    return NULL;
}

libcurl_gets *libcurl_gets_create(const char *url, int in_flight) {
    libcurl_gets *gets = in_flight > 0 ? calloc(1, sizeof *gets) : NULL;
    if (gets == NULL) return NULL;
    gets->timer = -1;
    gets->epoll = epoll_create1(EPOLL_CLOEXEC);
    gets->multi = curl_global_init(CCURL_GLOBAL_ALL) == 0 ? curl_multi_init() : NULL;
    gets->easies = calloc((size_t)in_flight, sizeof *gets->easies);
    if (gets->epoll < 0 || gets->multi == NULL || gets->easies == NULL) {
        libcurl_gets_destroy(gets);
        return NULL;
    }
    ccurl_multi_set_socket_callback(gets->multi, CCURLMOPT_SOCKETFUNCTION, watch_socket);
    ccurl_multi_set_pointer(gets->multi, CCURLMOPT_SOCKETDATA, gets);
    ccurl_multi_set_timer_callback(gets->multi, CCURLMOPT_TIMERFUNCTION, set_timer);
    ccurl_multi_set_pointer(gets->multi, CCURLMOPT_TIMERDATA, gets);
    for (; gets->in_flight < in_flight; gets->in_flight++) {
        gets->easies[gets->in_flight] = make_easy(gets, url);
        if (gets->easies[gets->in_flight] == NULL) {
            libcurl_gets_destroy(gets);
            return NULL;
        }
    }
    return gets;
}

// Waits for the kernel and lets libcurl work; returns after one turn.
static void turn(libcurl_gets *gets) {
    struct epoll_event events[EVENT_COUNT];
    int running, milliseconds = 1000;
    if (gets->timer >= 0) {
        double rest = gets->timer - now();
        milliseconds = rest <= 0 ? 0 : rest < 1 ? (int)(rest * 1e3) + 1 : 1000;
    }
    int count = epoll_wait(gets->epoll, events, EVENT_COUNT, milliseconds);
    for (int index = 0; index < count; index++) {
        int mask = 0;
        if (events[index].events & EPOLLIN) mask |= CCURL_CSELECT_IN;
        if (events[index].events & EPOLLOUT) mask |= CCURL_CSELECT_OUT;
        if (events[index].events & (EPOLLERR | EPOLLHUP)) mask |= CCURL_CSELECT_ERR;
        curl_multi_socket_action(gets->multi, events[index].data.fd, mask, &running);
    }
    if (gets->timer >= 0 && now() >= gets->timer) {
        gets->timer = -1;
        curl_multi_socket_action(gets->multi, CCURL_SOCKET_TIMEOUT, 0, &running);
    }
}

struct libcurl_gets_result libcurl_gets_run(libcurl_gets *gets, double seconds) {
    struct libcurl_gets_result result = {0};
    double start = now();
    int running = gets->in_flight;
    gets->byte_count = 0;
    for (int index = 0; index < gets->in_flight; index++) curl_multi_add_handle(gets->multi, gets->easies[index]);
    while (running > 0) {
        struct CURLMsg *message;
        int remaining;
        turn(gets);
        while ((message = curl_multi_info_read(gets->multi, &remaining)) != NULL) {
            if (message->msg != CCURLMSG_DONE) continue;
            ccurl_easy *easy = message->easy_handle;
            long status = 0;
            if (message->data.result != 0 || ccurl_easy_get_long(easy, INFO_RESPONSE_CODE, &status) != 0 ||
                status != 200) {
                result.failed++;
            }
            result.completed++;
            curl_multi_remove_handle(gets->multi, easy);
            if (now() < start + seconds) {
                curl_multi_add_handle(gets->multi, easy);
            } else {
                running--;
            }
        }
    }
    result.seconds = now() - start;
    result.byte_count = gets->byte_count;
    return result;
}

void libcurl_gets_destroy(libcurl_gets *gets) {
    if (gets == NULL) return;
    for (int index = 0; index < gets->in_flight; index++) curl_easy_cleanup(gets->easies[index]);
    if (gets->multi != NULL) curl_multi_cleanup(gets->multi);
    if (gets->epoll >= 0) close(gets->epoll);
    free(gets->easies);
    free(gets);
}

#endif
