// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#ifndef BENCHMARKS_SYSTEM_BUNDLE_H
#define BENCHMARKS_SYSTEM_BUNDLE_H

// The environment variable with the path of the file to read instead of the system's certificate bundle.
#define SYSTEM_BUNDLE_VARIABLE "GOALS_SYSTEM_BUNDLE"

#endif
