// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The former name of the policy of streams and downloads.
///
/// Arguments that are left out have the defaults of ``RetryPolicy``, which are shorter: change ``RetryPolicy/resumption``.
@available(*, deprecated, renamed: "RetryPolicy")
public typealias ResumePolicy = RetryPolicy
