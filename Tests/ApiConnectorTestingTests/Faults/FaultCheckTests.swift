// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

@testable import ApiConnectorTestServers
import ApiConnector
import Testing

@testable import ApiConnectorTesting

/// The checks that the faults of a test double must pass, by the letters of its list.
@Suite(.timeLimit(.minutes(10))) struct FaultCheckTests {}

extension FaultCheckTests {
    /// Bodies that look complete at many of their bytes to a reader that does not check the end.
    private static let bodies = [#"{"id":1,"name":"green"}  "#, "12345", #"["a","b"]"#, "\"tea\"", "null", "[] "]

    @Test(arguments: bodies.indices) func checkH_aBodyCutAtAnyByteIsNeverASuccess(_ index: Int) async throws {
        let body = Data(Self.bodies[index].utf8)
        let effects: [Fault.Effect] = [.truncated, .reset, .stall, .timeout, .malformed]
        for family in CutFamily.allCases {
            let count = try await FaultTest.everySingleFault(of: .everyByte(effects)) { run in
                let provider = TestConnector { _ in .data(body, headers: [.contentType: "application/json"]) }
                let shop = NetworkConnector(
                    environment: ShopServer.test,
                    provider: provider.injecting(run),
                    router: Shop.self,
                    configuration: ConnectionConfiguration(timeSource: run.timeSource)
                )
                let error = await family.failure(of: shop, at: .tea(id: 1))
                guard let fault = run.fault else { return #expect(error == nil, "\(family)") }
                let kind: ApiConnectorError.Kind =
                    switch fault.effect {
                    case .stall: .stalled
                    case .timeout: .timedOut
                    case .malformed: .malformedResponse
                    default: .connectionLost
                    }
                #expect(error?.kind == kind, "\(family), \(run)")
            }
            #expect(count == 1 + (body.count + 1) * effects.count)
        }
    }

    @Test(arguments: CutFamily.allCases, ["Content-Length: 23", "Transfer-Encoding: chunked"])
    func checkH_holdsOverTheDefaultTransport(_ family: CutFamily, _ framing: String) async throws {
        let body = #"{"id":1,"name":"green"}"#
        let offset = Locked(0)
        let server = try LoopbackServer { connection in
            guard try connection.readRequest() != nil else { return }
            let part = String(body.prefix(offset.withLock { $0 }))
            let sent =
                framing.hasPrefix("T") && !part.isEmpty ? "\(String(part.count, radix: 16))\r\n\(part)\r\n" : part
            try connection.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\(framing)\r\n\r\n\(sent)")
            connection.close()
        }
        let api = NetworkConnector(
            environment: FaultTruthTests.Place(port: server.port),
            provider: SystemProvider(),
            router: FaultTruthTests.Route.self,
            configuration: ConnectionConfiguration(timeouts: .unlimited)
        )
        // The whole body without its last chunk is cut, too.
        for count in 0..<(framing.hasPrefix("T") ? 24 : 23) {
            offset.withLock { $0 = count }
            let error = await family.failure(of: api, at: .teas)
            #expect(error?.kind == .connectionLost, "\(family) at byte \(count)")
        }
    }

    /// Computed by another program from the description of the algorithms: SplitMix64, FNV-1a, Fisher and Yates.
    @Test func checkI_theSameSeedIsTheSamePlanOnEveryPlatform() throws {
        let share = FaultPlan.percent(30, seed: 42)
        let key = try ExchangeKey(request: "GET /teas/1")
        let faults = (1...20).compactMap { call in
            share.fault(for: key, fullCall: call, shortCall: call).map { FaultPlan.Entry(key.full, call: call, $0) }
        }
        #expect(
            FaultPlan(faults).description
                == "GET /teas/1 #1 429+1@send; GET /teas/1 #5 timeout@head; GET /teas/1 #7 reset@head; "
                + "GET /teas/1 #13 reset@end; GET /teas/1 #18 reset@end; GET /teas/1 #19 429+1@send"
        )
        let exchanges = try (0..<50).shuffled().map {
            FaultInjector.Exchange.known(try ExchangeKey(request: "GET /items/\($0)"), byteCount: 9)
        }
        #expect(
            FaultPlan(10, of: exchanges, .transient, 42).description
                == "GET /items/49 #1 truncated@head; GET /items/39 #1 reset@head; GET /items/40 #1 timeout@head; "
                + "GET /items/26 #1 refused@send; GET /items/44 #1 reset@head"
        )
    }
}

/// The ways to ask for a body.
enum CutFamily: CaseIterable {
    case data, value, send, outcome, stream, lines, chunks, download

    func failure<Api: ApiConnectionType>(of api: Api, at route: Api.RouterType) async -> ApiConnectorError? {
        do throws(ApiConnectorError) {
            switch self {
            case .data: _ = try await api.data(at: route)
            case .value: _ = try await api.value(JSONValue.self, at: route)
            case .send: try await api.send(at: route)
            case .outcome: _ = try await api.outcome(JSONValue.self, at: route).get()
            case .stream: for try await _ in api.stream(of: JSONValue.self, at: route) {}
            case .lines: for try await _ in api.stream(at: route, as: .lines) {}
            case .chunks: for try await _ in api.stream(at: route, as: .chunks) {}
            case .download:
                let file = FileManager.default.temporaryDirectory.appending(path: "ApiConnector-\(UUID().uuidString)")
                defer { try? FileManager.default.removeItem(at: file) }
                _ = try await api.download(at: route, to: file, resuming: nil).file()
            }
            return nil
        } catch {
            return error
        }
    }
}
