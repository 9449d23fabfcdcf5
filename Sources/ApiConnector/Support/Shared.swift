// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// Exported, so that each file of this package that imports ApiConnector has `Locked`; other packages do not see it.
@_exported public import ApiConnectorShared
