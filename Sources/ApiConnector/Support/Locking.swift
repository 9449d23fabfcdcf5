// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// Exported, so that whoever in this package imports ApiConnector has `Locked`; nobody outside sees it.
@_exported public import ApiConnectorLocking
