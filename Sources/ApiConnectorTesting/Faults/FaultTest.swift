// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Tests that repeat a body with different faults, chunks or orders of answers.
public enum FaultTest {}
