// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

@testable import ApiConnectorRecording
import ApiConnector
import Testing

@testable import ApiConnectorTesting
import ApiConnectorTraffic

/// Every wrapper that there is, with every single fault in every exchange of a call.
@Suite(.timeLimit(.minutes(10))) struct WrapperFaultTests {}

extension WrapperFaultTests {
    @Test(arguments: ["retrying", "standard", "headers", "rewriting", "observed", "timeLimited", "traced"])
    func aGETWithRetriesSurvivesTransientFaults(_ name: String) async throws {
        try await FaultTest.everySingleFault { run in
            let injected = TestConnector { _ in .json(Tea.green) }.injecting(run)
            let log = EventCounts()
            let provider: AnyProvider =
                switch name {
                case "retrying": AnyProvider(injected.retrying())
                case "headers": AnyProvider(injected.addingHeaders(["X-Tea": "1"]).retrying())
                case "rewriting": AnyProvider(injected.rewriting { $0.headers["X-Tea"] = "1" }.retrying())
                case "traced": AnyProvider(injected.tracing().retrying())
                case "observed": AnyProvider(injected.retrying().observing(by: log))
                case "timeLimited":
                    AnyProvider(injected.timeLimiting(attempt: .seconds(5), stall: .seconds(3)).retrying())
                default: AnyProvider(injected.standard(observedBy: log))
                }
            let shop = run.shop(over: provider, timeouts: name == "timeLimited" ? .unlimited : Timeouts())
            let kind = await ApiConnectorError.kind { () async throws(ApiConnectorError) in
                let tea = try await shop.value(Tea.self, at: .tea(id: 1))
                #expect(tea == .green, "\(run)")
            }
            switch run.fault.map({ ($0.effect, $0.place) }) {
            case (.malformed, _)?, (.garbage, .beforeSending)?, (.garbage, .head)?:
                #expect(kind == .malformedResponse, "\(run)")
            case (.garbage, _)?: #expect(kind == .decodingFailed, "\(run)")
            default: #expect(kind == nil, "\(run)")
            }
            log.expectPairs(run)
        }
    }

    @Test func aRecordedFailureIsReplayed() async throws {
        let folder = try TemporaryFolder()
        let faults = ["refused@send", "reset@head", "truncated@3", "malformed@head", "503@send", "garbage@0"]
        try await FaultTest.everySingleFault(of: .only(try faults.map { try #require(Fault($0)) })) { run in
            let recorder = try Recorder(folder.file("\(folder.names.count).har"), mode: .record)
            let provider = TestConnector { _ in .json(Tea.green) }.injecting(run).recording(by: recorder)
            let recorded = await ApiConnectorError.kind { () async throws(ApiConnectorError) in
                _ = try await run.shop(over: provider).value(Tea.self, at: .tea(id: 1))
            }
            #expect((recorded == nil) == (run.fault == nil), "\(run)")
            try recorder.save()
            let replay = TestConnector(try Replay(contentsOf: recorder.file))
            let replayed = await ApiConnectorError.kind { () async throws(ApiConnectorError) in
                _ = try await run.shop(over: replay).value(Tea.self, at: .tea(id: 1))
            }
            #expect(replayed == recorded, "\(run)")
        }
        #expect(folder.names.count == faults.count + 1)
    }

    @Test func aPOSTIsNeverProcessedTwice() async throws {
        try await FaultTest.everySingleFault { run in
            let doneCount = Locked(0)
            let provider = TestConnector { _ in
                doneCount.withLock { $0 += 1 }
                return .json(Tea.green)
            }.injecting(run).standard()
            let kind = await ApiConnectorError.kind { () async throws(ApiConnectorError) in
                _ = try await run.shop(over: provider).value(Tea.self, at: .add(.green))
            }
            let done = doneCount.withLock { $0 }
            #expect(done <= 1 && (kind != nil || done == 1), "\(run)")
            // Nothing was sent, for sure: it may be sent again, and is.
            if run.fault?.effect == .refused || run.fault == Fault(.timeout, at: .beforeSending) {
                #expect(kind == nil, "\(run)")
            }
        }
    }

    @Test func aPOSTWithAnIdempotencyKeyIsProcessedOnce() async throws {
        try await FaultTest.everySingleFault(of: .transient) { run in
            let keys = Locked<Set<String>>([])
            let policy = RetryPolicy(idempotencyKey: RetryPolicy.randomKey)
            let provider = TestConnector { request in
                keys.withLock { _ = $0.insert(request.headers[.idempotencyKey] ?? "") }
                return .json(Tea.green)
            }.injecting(run).retrying(policy)
            let tea = try await run.shop(over: provider).value(Tea.self, at: .add(.green))
            #expect(tea == .green, "\(run)")
            #expect(keys.withLock { $0.count } == 1, "\(run)")
        }
    }

    @Test(arguments: [false, true])
    func aFailedRefreshDoesNotAffectTheNextCall(_ retries: Bool) async throws {
        try await FaultTest.everySingleFault { run in
            let server = TestConnector { request in
                if request.url.path() == "/login" { return .json(["token": "new"]) }
                return request.headers[.authorization] == "Bearer new" ? .json(Tea.green) : .status(401)
            }.injecting(run)
            let transport = retries ? AnyProvider(server.retrying()) : AnyProvider(server)
            let accounts = run.shop(over: transport)
            let session = RefreshableCredentials(.bearer("old"), timeSource: run.timeSource) { _ in
                .bearer(try await accounts.value([String: String].self, at: .login(password: "x"))["token"] ?? "")
            }
            let shop = run.shop(over: transport.authenticating(by: session))
            var failures: [ApiConnectorError.Kind] = []
            for id in 1...3 {
                let kind = await ApiConnectorError.kind { () async throws(ApiConnectorError) in
                    let tea = try await shop.value(Tea.self, at: .tea(id: id))
                    #expect(tea == .green, "\(run)")
                }
                if let kind { failures.append(kind) }
            }
            // The call that the fault befell, at the most.
            #expect(failures.count <= (run.fault == nil ? 0 : 1), "\(run): \(failures)")
        }
    }

    @Test func redirectsAreFollowedOrFail() async throws {
        try await FaultTest.everySingleFault { run in
            let provider = TestConnector { request in
                request.url.path() == "/teas/1"
                    ? .status(307, headers: [.location: "/teas/2"]) : .json(Tea.black)
            }.injecting(run).standard()
            let kind = await ApiConnectorError.kind { () async throws(ApiConnectorError) in
                let tea = try await run.shop(over: provider).value(Tea.self, at: .tea(id: 1))
                #expect(tea == .black, "\(run)")
            }
            #expect(kind == nil || run.isFinal, "\(run)")
        }
    }
}
