// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The former name of the policy for streams and downloads.
///
/// Arguments that are left out have the defaults of ``RetryPolicy``, which are shorter. Use ``RetryPolicy/resumption``
/// and change it.
@available(*, deprecated, renamed: "RetryPolicy")
public typealias ResumePolicy = RetryPolicy
