// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// A library for LD_PRELOAD: getaddrinfo(3) hangs for every name that ends in ".hangs.test".
//
// Each such call writes a byte to the descriptor HANGING_RESOLVER_ARRIVALS and then waits until the other end of
// HANGING_RESOLVER_GATE is closed. The program that loads the library makes both descriptors.

#ifndef HANGING_RESOLVER_H
#define HANGING_RESOLVER_H

enum {
    HANGING_RESOLVER_ARRIVALS = 200,
    HANGING_RESOLVER_GATE = 201,
};

#endif
