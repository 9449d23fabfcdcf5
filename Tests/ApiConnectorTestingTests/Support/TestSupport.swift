// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// What several test targets use, for all files of this target.
@_exported public import TestSupport
