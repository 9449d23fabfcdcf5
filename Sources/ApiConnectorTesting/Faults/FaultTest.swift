// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Tests that run a body again and again, each time with other faults, other chunks or another order of answers.
public enum FaultTest {}
