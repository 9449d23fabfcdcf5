// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Why a failed request was not sent again.
public enum RetryStop: String, Sendable, Hashable, CaseIterable {
    /// The failure is not transient.
    case notTransient
    /// A retry could do the work twice: the method is not idempotent, and the request has no `Idempotency-Key`.
    case notIdempotent
    /// The body cannot be sent again.
    case bodyNotReplayable
    /// The rest of the stream cannot be requested; the error's ``ApiConnectorError/detail`` says why.
    case notResumable
    /// ``RetryPolicy/maximumAttemptCount`` is reached.
    case attemptLimit
    /// The next attempt would start after ``RetryPolicy/maximumDuration``.
    case durationLimit
    /// The next attempt would start after the call's deadline.
    case deadline
    /// The host's ``RetryBudget`` is used up.
    case budget
}

extension RetryStop {
    /// The end of the sentence "The request was not sent again: …"; nil if the failure itself explains it.
    var reason: String? {
        switch self {
        case .notTransient, .notResumable: nil
        case .notIdempotent: "the server might do the work twice; an Idempotency-Key would allow a retry"
        case .bodyNotReplayable: "its body cannot be sent a second time"
        case .attemptLimit: "the policy's maximum attempt count is reached"
        case .durationLimit: "the policy's maximum duration would have passed"
        case .deadline: "the call's deadline would have passed"
        case .budget: "the host's retry budget is used up"
        }
    }
}
