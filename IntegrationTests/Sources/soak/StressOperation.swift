// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
import ApiConnector
import Foundation
import MisbehavingServer
import Support
import Synchronization

/// One operation of a ``Stress``: a call, or a few calls that belong together.
struct StressOperation: Sendable {
    enum Kind: String, CaseIterable {
        case value, canceledCall, attemptLimit, stallLimit, overallLimit, refresh, halfReadStream, unreadStream,
            canceledDownload, canceledUpload, releasedProvider, faultyServer
    }

    let number: Int
    let kind: Kind
    private let seed: UInt64

    /// - Parameter seed: The seed of the run. It determines the limits, and the moments of cancellations.
    init(number: Int, seed: UInt64) {
        self.number = number
        kind = Kind.allCases[number % Kind.allCases.count]
        self.seed = seed &+ UInt64(number) &* 1_000_003
    }

    /// Runs the operation.
    ///
    /// - Parameter log: Records the operation's state.
    /// - Returns: How the operation ended.
    /// - Throws: An error or a wrong result that this kind of operation does not allow.
    func run(on stage: StressStage, _ log: StressLog) async throws -> String {
        var random = SplitMix64(seed: seed)
        switch kind {
        case .value:
            log.note("waiting for the value", number)
            let post = try await stage.api.value(Post.self, at: stage.url(.short))
            return try post.id == 1 ? "a value" : fail("the value differs")
        case .canceledCall: return try await cancelCall(on: stage, log, &random)
        case .attemptLimit, .stallLimit, .overallLimit: return try await exceedLimit(on: stage, log, &random)
        case .refresh:
            log.note("waiting for the body or the refresh", number)
            let session = stage.session(for: self)
            let body = try await session.api.data(at: stage.url(.guarded))
            return try body == Data(Behavior.shortBody.utf8) ? "a value after a refresh" : fail("the body differs")
        case .halfReadStream, .unreadStream: return try await leaveStream(on: stage, log)
        case .canceledDownload:
            let file = stage.folder.appending(path: "\(number)")
            let download = Task {
                try await stage.api.download(at: stage.url(.large), to: file, resuming: nil).file().byteCount
            }
            return try await cancel(download, expecting: Behavior.largeByteCount, log, &random)
        case .canceledUpload:
            let body = RequestBody.data(Data(count: Self.uploadByteCount))
            let upload = Task {
                Int(
                    String(
                        decoding: try await stage.api.data(at: stage.url(.measure), method: .post, body: body),
                        as: UTF8.self
                    )
                )
            }
            return try await cancel(upload, expecting: Self.uploadByteCount, log, &random)
        case .releasedProvider: return try await releaseProvider(on: stage, log)
        case .faultyServer: return try await callFaultyServer(on: stage, log)
        }
    }

    /// With more than 1 MiB, libcurl would wait for the status 100.
    private static let uploadByteCount = 512 << 10

    private struct Post: Decodable {
        let id: Int
    }

    // MARK: Cancellation

    private func cancelCall(
        on stage: StressStage,
        _ log: StressLog,
        _ random: inout SplitMix64
    ) async throws -> String {
        let behaviors: [(Behavior, byteCount: Int?)] = [
            (.short, Behavior.shortBody.utf8.count), (.late, Behavior.shortBody.utf8.count),
            (.large, Behavior.largeByteCount), (.silence, nil), (.silenceInside, nil),
        ]
        let (behavior, byteCount) = behaviors[Int.random(in: 0..<behaviors.count, using: &random)]
        let call = Task { Optional(try await stage.api.data(at: stage.url(behavior)).count) }
        return try await cancel(call, expecting: byteCount, log, &random)
    }

    /// Cancels a task at a random moment.
    ///
    /// - Parameter expected: The task's value if it ends before the cancellation; nil if it cannot end.
    private func cancel<Value: Equatable & Sendable>(
        _ task: Task<Value, any Error>,
        expecting expected: Value?,
        _ log: StressLog,
        _ random: inout SplitMix64
    ) async throws -> String {
        log.note("waiting for the moment of the cancellation", number)
        if Bool.random(using: &random) {
            for _ in 0..<Int.random(in: 0..<20, using: &random) { await Task.yield() }
        } else {
            try await Task.sleep(for: .microseconds(Int.random(in: 0..<200_000, using: &random)))
        }
        task.cancel()
        log.note("canceled", number)
        do {
            let value = try await task.value
            return try value == expected ? "ended before its cancellation" : fail("\(value) instead of a cancellation")
        } catch let error as ApiConnectorError where error.kind == .cancelled {
            return "canceled"
        }
    }

    // MARK: Limits

    private func exceedLimit(
        on stage: StressStage,
        _ log: StressLog,
        _ random: inout SplitMix64
    ) async throws -> String {
        let limit = Duration.milliseconds(Int.random(in: 20..<300, using: &random))
        let (timeouts, expected): (Timeouts, ApiConnectorError.Kind) =
            switch kind {
            case .attemptLimit: (Timeouts(attempt: limit), .timedOut)
            case .stallLimit: (Timeouts(stall: limit), .stalled)
            default: (Timeouts(overall: limit), .deadlineExceeded)
            }
        // The machine or the loop may be busy. A call that is due at the same time shows how much.
        async let shortCall = Self.latenessOfCall(after: limit, on: stage)
        log.note("waiting for the limit of \(limit)", number)
        let start = ContinuousClock.now
        do {
            let body = try await stage.api.data(at: stage.url(.silence), options: CallOptions(timeouts: timeouts))
            return try fail("\(body.count) bytes from a silent server")
        } catch let error as ApiConnectorError where error.kind == expected {
            let lateness = ContinuousClock.now - start - limit
            // The stall limit starts again with each byte of the request.
            if kind != .stallLimit { log.add(lateness, besideCall: try await shortCall) }
            return "\(expected)"
        }
    }

    private static func latenessOfCall(after duration: Duration, on stage: StressStage) async throws -> Duration {
        let start = ContinuousClock.now
        try await Task.sleep(for: duration, tolerance: .zero)
        _ = try await stage.api.data(at: stage.url(.short))
        return ContinuousClock.now - start - duration
    }

    // MARK: Streams and providers

    private func leaveStream(on stage: StressStage, _ log: StressLog) async throws -> String {
        log.note("waiting for the head", number)
        let request = ApiRequest(url: stage.url(.large), delivery: .streamed)
        let response = try await stage.provider.response(for: request)
        guard kind == .halfReadStream else { return "an unread stream" }
        var byteCount = 0
        for try await chunk in response.body {
            byteCount += chunk.count
            log.note("has read \(byteCount) bytes", number)
            if byteCount >= Behavior.largeByteCount / 2 { return "a stream left in the middle" }
        }
        return try fail("the stream ended after \(byteCount) bytes")
    }

    private func releaseProvider(on stage: StressStage, _ log: StressLog) async throws -> String {
        log.note("waiting for the head from its own provider", number)
        let (response, call) = try await Self.openCalls(on: stage)
        log.note("waiting for the body after the release", number)
        do {
            for try await _ in response.body {}
            return try fail("the stream ended without an error")
        } catch let error as ApiConnectorError where error.kind == .cancelled {
            log.note("waiting for the open call after the release", number)
            return try await call.value == 200 ? "a released provider" : fail("the open call has another status")
        }
    }

    /// Opens a stream and a call, and releases their provider, except for the call's own copy.
    private static func openCalls(on stage: StressStage) async throws -> (ApiResponse, Task<Int, any Error>) {
        let provider = CurlProvider(configuration: CurlConfiguration())
        let request = ApiRequest(url: stage.url(.silenceInside), delivery: .streamed)
        let response = try await provider.response(for: request)
        let call = Task { try await provider.response(for: ApiRequest(url: stage.url(.late))).status.rawValue }
        return (response, call)
    }

    private func callFaultyServer(on stage: StressStage, _ log: StressLog) async throws -> String {
        let behaviors = Behavior.misbehaviors.filter { $0.kind != .stalled }
        let behavior = behaviors[number / Kind.allCases.count % behaviors.count]
        log.note("waiting for a response: \(behavior)", number)
        do {
            let body = try await stage.api.data(at: stage.url(behavior))
            return try fail("\(behavior): \(body.count) bytes instead of an error")
        } catch let error as ApiConnectorError where error.kind == behavior.kind {
            return "\(behavior)"
        }
    }

    private func fail(_ text: String) throws -> String {
        throw UnexpectedResult(description: text)
    }
}

/// A result that an operation does not allow.
private struct UnexpectedResult: Error, CustomStringConvertible {
    let description: String
}
#endif
