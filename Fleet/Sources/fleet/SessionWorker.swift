// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTraffic
import ArgumentParser
import Foundation

/// One process with a session.
///
/// It calls the backend until the backend responds that all expiries are over. Then it prints its ``CallCounts``.
struct SessionWorker: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "session-worker", shouldDisplay: false)

    @Option var port: Int
    @Option var store: Store
    @Option var key: String
    @Option(help: "The time limit of a call in milliseconds.")
    var callLimit = 30_000
    @Option(help: "The time limit of an operation of the store in milliseconds.")
    var operationLimit = 10_000
    @Flag(help: "The process has its own copy of the session.")
    var alone = false

    func run() async throws {
        let root = "http://127.0.0.1:\(port)"
        guard let call = URL(string: root + "/call"), let refresh = URL(string: root + "/refresh") else { return }
        let state: any SharedState = alone ? MemorySharedState() : try store.open()
        // A separate `SharedSession` signs in. If `shared` itself signed in, it would refresh the session at once.
        if alone { try await SharedSession<Tokens>(in: state, key: key).signIn(Tokens(number: 0)) }
        let shared = try SharedSession<Tokens>(
            in: state,
            key: key,
            operationLimit: .milliseconds(operationLimit)
        )
        let transport = SystemProvider()
        let credentials = RefreshableCredentials(sharing: shared, limit: .init(1_000_000)) { tokens in
            .bearer("\(tokens.number)")
        } refreshing: { tokens in
            let fields: HTTPHeaders = ["X-Refresh-Token": "\(tokens?.number ?? -1)", "X-Process": "\(getpid())"]
            let request = ApiRequest(url: refresh, method: .post, headers: fields)
            let response = try await transport.response(for: request)
            let body = try await response.body.collect(upTo: 100)
            guard response.status == 200, let number = Int(String(decoding: body, as: UTF8.self)) else {
                throw ValidationError("the refresh of \(fields) was answered with \(response.status.rawValue)")
            }
            return Tokens(number: number)
        }
        let provider = transport.authenticating(by: credentials, for: .origins(call))
        let limit = Duration.milliseconds(callLimit)
        let counts = await withTaskGroup(of: CallCounts.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    var counts = CallCounts()
                    while let one = await CallCounts.ofCall(to: call, over: provider, within: limit) {
                        if let failure = one.failures.first {
                            print(failure)
                            Foundation.exit(3)
                        }
                        counts.add(one)
                        // Without the store, calls may fail at once.
                        if one.lateCount > 0 { try? await Task.sleep(for: .milliseconds(20)) }
                    }
                    return counts
                }
            }
            return await group.reduce(CallCounts(), +)
        }
        try counts.write()
    }
}
