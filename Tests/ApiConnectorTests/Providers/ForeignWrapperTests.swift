// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import ApiConnectorTraffic
import Foundation
import Testing

private enum Tenant: RequestValueKey {
    static let defaultValue = "none"
}

private enum Depth: RequestValueKey {
    static let defaultValue = 0
}

/// A wrapper in another module: this file imports only public API.
struct ForeignWrapperTests {
    private static let url = URL(string: "http://api.example.com/x")

    private func api(
        _ provider: some DataRequestType,
        clock: ManualClock = ManualClock()
    ) -> NetworkConnector<AnyProvider, Endpoint<ApiPath>> {
        NetworkConnector(
            environment: Place(),
            provider: AnyProvider(provider),
            configuration: ConnectionConfiguration(timeSource: clock)
        )
    }

    // MARK: Values

    @Test func aCallPassesAValueToAProvider() async throws {
        let seen = Locked<[String?]>([])
        let transport = TestConnector { request in
            seen.withLock { $0.append(request.headers["X-Tenant"]) }
            return .json(["ok"])
        }
        let api = api(transport.rewriting { $0.headers["X-Tenant"] = $0.values[Tenant.self] })
        let url = try #require(Self.url)
        _ = try await api.data(at: url)
        let values = RequestValues().setting(Tenant.self, to: "acme").setting(Depth.self, to: 2)
        _ = try await api.data(at: url, options: CallOptions(values: values))
        #expect(seen.withLock { $0 } == ["none", "acme"])
    }

    @Test func eachKeyHasTheValueThatWasSetLast() {
        var values = RequestValues()
        #expect(values[Tenant.self] == "none")
        values[Tenant.self] = "a"
        values[Depth.self] = 1
        let copy = values
        values[Tenant.self] = "b"
        #expect(values[Tenant.self] == "b")
        #expect(values[Depth.self] == 1)
        #expect(copy[Tenant.self] == "a")
        #expect(copy[Depth.self] == 1)
    }

    private final class Box: Sendable {}

    private enum Boxed: RequestValueKey {
        static let defaultValue: Box? = nil
    }

    @Test func valuesAreEqualByTheirContentsIfTheyAreHashable() {
        let empty = RequestValues()
        let one = empty.setting(Tenant.self, to: "a").setting(Depth.self, to: 1)
        let other = empty.setting(Depth.self, to: 1).setting(Tenant.self, to: "a")
        #expect(one == other)
        #expect(one.hashValue == other.hashValue)
        #expect(one != empty)
        #expect(one != other.setting(Depth.self, to: 2))
        #expect(one.setting(Depth.self, to: 2).setting(Depth.self, to: 1) == other)
        let boxed = empty.setting(Boxed.self, to: Box())
        let copy = boxed
        #expect(boxed == copy)
        #expect(boxed != empty.setting(Boxed.self, to: Box()))
    }

    private enum Limit: RequestValueKey {
        static let defaultValue: Int? = 5
    }

    @Test func anOptionalValueMayBeNilWhereTheDefaultIsNot() {
        var values = RequestValues().setting(Depth.self, to: 2)
        #expect(values[Limit.self] == 5)
        values[Limit.self] = nil
        #expect(values[Limit.self] == nil)
        #expect(values != RequestValues().setting(Depth.self, to: 2))
    }

    @Test func aValueThatIsSetToItsDefaultIsNotSet() {
        let empty = RequestValues()
        #expect(empty.setting(Tenant.self, to: "none") == empty)
        #expect(empty.setting(Tenant.self, to: "a").setting(Tenant.self, to: "none") == empty)
        #expect(empty.setting(Limit.self, to: 5) == empty)
        #expect(empty.setting(Boxed.self, to: Box()).setting(Boxed.self, to: nil) == empty)
        var options = CallOptions()
        options.priority = .normal
        options.uploadProgress = UploadProgress()
        options.uploadProgress = nil
        #expect(options.values == empty)
    }

    @Test func theLibrarysOwnValuesAreKept() {
        var options = CallOptions(priority: .high, values: RequestValues().setting(Depth.self, to: 3))
        #expect(options.priority == .high)
        #expect(options.cacheUse == .standard)
        options.cacheUse = .reload
        #expect(options.values[Depth.self] == 3)
        #expect(options.priority == .high)
        #expect(options.uploadProgress == nil)
    }

    @Test func callsWithDifferentValuesDoNotShareARequest() async throws {
        let (arrived, gate) = ([Gate("acme"), Gate("other")], Gate("answer"))
        let transport = TestConnector { request in
            arrived[request.values[Tenant.self] == "acme" ? 0 : 1].open()
            try await gate.opened()
            return .data(Data(request.values[Tenant.self].utf8))
        }
        let api = api(transport.deduplicating())
        let url = try #require(Self.url)
        let acme = RequestValues().setting(Tenant.self, to: "acme")
        async let first = api.data(at: url, options: CallOptions(values: acme))
        async let second = api.data(at: url, options: CallOptions(values: acme.setting(Tenant.self, to: "other")))
        for gate in arrived { try await gate.opened() }
        gate.open()
        #expect(try await first == Data("acme".utf8))
        #expect(try await second == Data("other".utf8))
    }

    @Test func callsWithEqualValuesShareARequest() async throws {
        let (arrived, gate) = (Gate("request"), Gate("answer"))
        let count = Locked(0)
        let joined = Gate("joined")
        let transport = TestConnector { _ in
            count.withLock { $0 += 1 }
            arrived.open()
            try await gate.opened()
            return .json(["ok"])
        }
        let log = CallLog(from: .debug) { _, line in if line.contains("joined") { joined.open() } }
        let api = api(transport.deduplicating().observing(by: log))
        let url = try #require(Self.url)
        let options = CallOptions(values: RequestValues().setting(Tenant.self, to: "acme"))
        async let first = api.data(at: url, options: options)
        try await arrived.opened()
        async let second = api.data(at: url, options: options)
        try await joined.opened()
        gate.open()
        #expect(try await first == second)
        #expect(count.withLock { $0 } == 1)
    }

    // MARK: Events and history

    @Test func aWrapperReportsItsOwnEvent() async throws {
        let lines = Locked<[String]>([])
        let provider = TestConnector { _ in .json(["ok"]) }
            .rewriting { $0.report(.custom("shard", details: ["name": "b", "age": "1"])) }
            .observing(by: CallLog(from: .debug) { _, line in lines.withLock { $0.append(line) } })
        _ = try await api(provider).data(at: try #require(Self.url))
        let all = lines.withLock { $0 }
        #expect(all.contains { $0.contains("shard: age=1 name=b") }, "\(all)")
        #expect(CallEvent.Kind.custom("shard", details: [:]).isDecision)
        #expect(!CallEvent.Kind.started.isDecision)
    }

    private struct Twice: DataRequestType {
        let wrapped: AnyProvider

        func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
            var request = request
            do throws(ApiConnectorError) {
                return try await wrapped.response(for: request)
            } catch {
                request.beginNextAttempt(after: .failure(error), duration: .seconds(1), wait: .seconds(2))
                return try await wrapped.response(for: request)
            }
        }
    }

    @Test func anErrorShowsTheAttemptsOfAWrapper() async throws {
        let transport = TestConnector { _ in throw ApiConnectorError(.connectionLost, "it broke") }
        let api = api(Twice(wrapped: AnyProvider(transport)))
        let url = try #require(Self.url)
        let error = try #require(await #expect(throws: ApiConnectorError.self) { try await api.data(at: url) })
        #expect(error.earlierAttempts.map(\.kind) == [.connectionLost])
        #expect(error.earlierAttempts.first?.wait == .seconds(2))
        #expect(error.request?.attempt == 2)
    }

    // MARK: Bodies

    private func ends(_ chunks: [Data]) async throws -> ([Data], [String]) {
        let ends = Locked<[String]>([])
        let body = try ResponseBody(chunks: AsyncStream(chunks)).transformed {
            Data($0.map { $0 &+ 1 })
        } onEnd: { end in
            ends.withLock { $0.append("\(end)".prefix { $0 != "(" }.description) }
        }
        var read: [Data] = []
        for try await chunk in body { read.append(chunk) }
        return (read, ends.withLock { $0 })
    }

    @Test func aWrapperChangesABodyAndLearnsOfItsEnd() async throws {
        let (read, ends) = try await ends([Data([1]), Data([2, 3])])
        #expect(read == [Data([2]), Data([3, 4])])
        #expect(ends == ["finished"])
    }

    @Test func aReaderThatStopsDiscardsTheBody() async throws {
        let ended = Gate("end")
        let isDiscarded = Locked(false)
        do {
            let body = try ResponseBody(chunks: AsyncStream([Data([1]), Data([2])])).transformed(onEnd: { end in
                if case .discarded = end { isDiscarded.withLock { $0 = true } }
                ended.open()
            })
            var iterator = body.makeAsyncIterator()
            #expect(try await iterator.next() == Data([1]))
        }
        try await ended.opened()
        #expect(isDiscarded.withLock { $0 })
    }

    @Test func aCollectedBodyIsOneChunk() throws {
        let ends = Locked(0)
        let body = try ResponseBody(Data([1, 2])).transformed {
            Data($0.reversed())
        } onEnd: { _ in
            ends.withLock { $0 += 1 }
        }
        #expect(body.collected == Data([2, 1]))
        #expect(ends.withLock { $0 } == 1)
    }

    @Test func anErrorOfATransformationEndsTheBody() async throws {
        let ended = Locked<ApiConnectorError.Kind?>(nil)
        let body = try ResponseBody(chunks: AsyncStream([Data([1])])).transformed { (_) throws(ApiConnectorError) in
            throw ApiConnectorError(.malformedResponse, "not what was signed")
        } onEnd: { end in
            if case .failed(let error) = end { ended.withLock { $0 = error.kind } }
        }
        let error = await #expect(throws: ApiConnectorError.self) { try await body.collect(upTo: 10) }
        #expect(error?.kind == .malformedResponse)
        #expect(ended.withLock { $0 } == .malformedResponse)
    }
}

extension AsyncStream where Element == Data {
    fileprivate init(_ chunks: [Data]) {
        self.init { continuation in
            for chunk in chunks { continuation.yield(chunk) }
            continuation.finish()
        }
    }
}
