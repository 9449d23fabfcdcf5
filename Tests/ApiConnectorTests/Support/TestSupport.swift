// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// Imports the code that several test targets share into all files of this target.
@_exported public import TestSupport
