// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// State that the requests of a resumable stream share with the retrying providers that they pass.
struct StreamMark: Sendable {
    /// The retry tokens of the outermost retrying provider.
    private final class Storage: Sendable {
        let tokens = Locked<(any RetryTokenSource)?>(nil)
    }

    private let storage = Storage()

    /// Whether the request resumes the stream; false for the first request.
    var isResuming = false

    /// The retry tokens of the outermost retrying provider; nil if there is none.
    var tokens: (any RetryTokenSource)? { storage.tokens.withLock { $0 } }

    /// Gives the stream the source of its retry tokens, unless it already has one.
    fileprivate func share(_ tokens: any RetryTokenSource) {
        storage.tokens.withLock { $0 = $0 ?? tokens }
    }
}

extension ApiRequest {
    /// Whether the request resumes a stream or a download that broke off.
    ///
    /// The stream's own policy decides about further attempts; see ``StreamFormat/resuming(_:)``. A wrapper that retries
    /// passes such a request on once. Otherwise the attempts of both would multiply.
    public var isResumption: Bool { values.streamMark?.isResuming ?? false }

    /// Makes the stream or download of this request use a wrapper's retry tokens.
    ///
    /// A wrapper that retries calls it for each request. Then requests that resume a stream count toward the budget of
    /// their host. The outermost wrapper's tokens are used. The function does nothing for a request that is not part of
    /// a resumable stream or download.
    public func shareRetryTokens(_ tokens: any RetryTokenSource) {
        values.streamMark?.share(tokens)
    }
}

extension StreamMark: Hashable {
    /// Always true, because the mark does not change what is requested.
    static func == (left: StreamMark, right: StreamMark) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
}

private enum StreamMarkValue: RequestValueKey {
    static let defaultValue: StreamMark? = nil
}

extension RequestValues {
    var streamMark: StreamMark? {
        get { self[StreamMarkValue.self] }
        set { self[StreamMarkValue.self] = newValue }
    }
}

/// The former name of the policy for streams and downloads.
///
/// Omitted arguments have the defaults of ``RetryPolicy``, which allow fewer attempts and shorter waits than
/// ``RetryPolicy/resumption``. For streams and downloads, change a copy of that policy instead.
@available(*, deprecated, renamed: "RetryPolicy")
public typealias ResumePolicy = RetryPolicy
