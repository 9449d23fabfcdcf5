// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The former name of the policy for streams and downloads.
///
/// Omitted arguments have the defaults of ``RetryPolicy``, which allow fewer attempts and shorter waits than
/// ``RetryPolicy/resumption``. For streams and downloads, change a copy of that policy instead.
@available(*, deprecated, renamed: "RetryPolicy")
public typealias ResumePolicy = RetryPolicy
