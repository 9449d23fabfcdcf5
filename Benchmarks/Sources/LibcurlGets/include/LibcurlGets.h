// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#ifndef BENCHMARKS_LIBCURL_GETS_H
#define BENCHMARKS_LIBCURL_GETS_H

#if defined(__linux__)

// GETs of one URL over libcurl's multi interface, from C: the upper bound for any transport over libcurl. It decodes
// nothing. It belongs to one thread at a time.
typedef struct libcurl_gets libcurl_gets;

struct libcurl_gets_result {
    double seconds;
    long completed;
    // Transfers with an error or a status other than 200.
    long failed;
    // Bytes of all bodies.
    long long byte_count;
};

// Returns NULL if libcurl or the kernel refuses something.
libcurl_gets *libcurl_gets_create(const char *url, int in_flight);

// Keeps in_flight transfers running for this time, then waits for the last ones. The connections stay open.
struct libcurl_gets_result libcurl_gets_run(libcurl_gets *gets, double seconds);

void libcurl_gets_destroy(libcurl_gets *gets);

#endif
#endif
