// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// Exported, so that each file of this package that imports ApiConnector has `Locked`; nobody outside sees it.
@_exported public import ApiConnectorShared
