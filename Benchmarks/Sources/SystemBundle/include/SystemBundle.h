// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#ifndef BENCHMARKS_SYSTEM_BUNDLE_H
#define BENCHMARKS_SYSTEM_BUNDLE_H

// The environment variable that names the file to read in place of the system's bundle of certificates.
#define SYSTEM_BUNDLE_VARIABLE "GOALS_SYSTEM_BUNDLE"

#endif
