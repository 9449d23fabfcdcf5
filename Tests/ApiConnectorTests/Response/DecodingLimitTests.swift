// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

/// A large body does not keep its call beyond the deadline or a cancellation, however long it takes to decode.
struct DecodingLimitTests {
    /// Does something in the middle of its decoding.
    private struct Model: Decodable {
        init(from decoder: any Decoder) throws {
            Interruption.of(decoder)?.action()
        }
    }

    private struct Interruption: Sendable {
        static let key = CodingUserInfoKey(rawValue: "interruption")

        let action: @Sendable () -> Void

        static func of(_ decoder: any Decoder) -> Interruption? {
            key.flatMap { decoder.userInfo[$0] as? Interruption }
        }
    }

    private static func call(
        _ byteCount: Int,
        _ clock: SynchronousClock,
        during action: @escaping @Sendable () -> Void
    ) async -> Result<Void, ApiConnectorError> {
        let decoder = JSONDecoder()
        if let key = Interruption.key { decoder.userInfo[key] = Interruption(action: action) }
        let body = Data("{\"text\":\"\(String(repeating: "a", count: byteCount))\"}".utf8)
        let api = NetworkConnector<_, Router>(
            environment: .localhost,
            provider: TestConnector { _ in .data(body, headers: ["Content-Type": "application/json"]) },
            configuration: ConnectionConfiguration(
                decoder: decoder,
                timeouts: Timeouts(overall: .seconds(5)),
                timeSource: clock
            )
        )
        do throws(ApiConnectorError) {
            _ = try await api.value(Model.self, at: .me)
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    @Test func theDeadlineAppliesWhileALargeBodyIsDecoded() async throws {
        let clock = SynchronousClock()
        let result = await Self.call(1_000_000, clock) { clock.advance(to: .seconds(5)) }
        let error = try #require(throws: ApiConnectorError.self) { try result.get() }
        #expect(error.kind == .deadlineExceeded)
        #expect(error.elapsed == .seconds(5))
        #expect(error.request?.url == "http://localhost/me")
    }

    @Test func aCanceledCallDoesNotWaitForTheDecoder() async throws {
        let call = Locked<Task<Result<Void, ApiConnectorError>, Never>?>(nil)
        let isSet = Gate()
        let task = Task {
            try? await isSet.opened()
            return await Self.call(1_000_000, SynchronousClock()) { call.withLock { $0 }?.cancel() }
        }
        call.withLock { $0 = task }
        isSet.open()
        let result = await task.value
        let error = try #require(throws: ApiConnectorError.self) { try result.get() }
        #expect(error.kind == .cancelled)
    }

    @Test func aLargeBodyDecodesWithinTheDeadline() async throws {
        let clock = SynchronousClock()
        try await Self.call(1_000_000, clock) { clock.advance(to: .seconds(4)) }.get()
    }

    /// Its own task would cost more than the decoding.
    @Test func aSmallBodyIsDecodedWithoutItsOwnTask() async throws {
        let clock = SynchronousClock()
        try await Self.call(100, clock) { clock.advance(to: .seconds(5)) }.get()
    }
}
