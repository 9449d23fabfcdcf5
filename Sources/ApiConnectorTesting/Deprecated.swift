// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The former name of the error of a launch seed.
@available(*, deprecated, renamed: "FixtureError")
public typealias LaunchSeedError = FixtureError

/// The former name of the error of a recording.
@available(*, deprecated, renamed: "FixtureError")
public typealias RecordingError = FixtureError
