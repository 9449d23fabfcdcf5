// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#define _GNU_SOURCE
#include "HangingResolver.h"

#if defined(__linux__)
#include <dlfcn.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

typedef int (*resolver)(const char *, const char *, const struct addrinfo *, struct addrinfo **);

static int hangs(const char *node) {
    static const char suffix[] = ".hangs.test";
    size_t length = node ? strlen(node) : 0;
    return length >= sizeof suffix - 1 && strcmp(node + length - (sizeof suffix - 1), suffix) == 0;
}

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **result) {
    if (hangs(node)) {
        struct pollfd gate = {.fd = HANGING_RESOLVER_GATE, .events = POLLIN};
        // A thread of libcurl has the name of the thread that made it.
        pthread_setname_np(pthread_self(), "resolver");
        if (write(HANGING_RESOLVER_ARRIVALS, "!", 1) != 1) return EAI_SYSTEM;
        poll(&gate, 1, -1);
        return EAI_AGAIN;
    }
    resolver next = (resolver)dlsym(RTLD_NEXT, "getaddrinfo");
    return next ? next(node, service, hints, result) : EAI_SYSTEM;
}
#endif
