// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#define _GNU_SOURCE
#include "SystemBundle.h"

#if defined(__linux__)

// Opens another file instead of the system's certificate bundle, in the processes of the TLS goals.
//
// URLSession on Linux always reads a fixed path. So the run's certificate is added to a copy of the system's bundle,
// and every contender reads that copy with its default settings. Each contender pays for the bundle as for its users,
// and nothing is installed. The program's fopen takes precedence over the C library's.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const bundles[] = {
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/tls/cacert.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/cert.pem",
};

static const char *chosen(const char *path) {
    const char *other = getenv(SYSTEM_BUNDLE_VARIABLE);
    if (other == NULL || path == NULL) return path;
    for (size_t index = 0; index < sizeof bundles / sizeof *bundles; index++) {
        if (strcmp(path, bundles[index]) == 0) return other;
    }
    return path;
}

typedef FILE *(*opener)(const char *, const char *);

FILE *fopen(const char *path, const char *mode) {
    opener next = (opener)dlsym(RTLD_NEXT, "fopen");
    return next ? next(chosen(path), mode) : NULL;
}

FILE *fopen64(const char *path, const char *mode) {
    opener next = (opener)dlsym(RTLD_NEXT, "fopen64");
    return next ? next(chosen(path), mode) : NULL;
}

#endif
