// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTraffic
import ArgumentParser
import Foundation

/// One process with a session.
///
/// It calls the backend until the backend responds that all expiries are over.
struct SessionWorker: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "session-worker", shouldDisplay: false)

    @Option var port: Int
    @Option var store: Store
    @Option var key: String

    func run() async throws {
        let root = "http://127.0.0.1:\(port)"
        guard let call = URL(string: root + "/call"), let refresh = URL(string: root + "/refresh") else { return }
        let shared = try SharedSession<Tokens>(in: store, key: key)
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
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    do {
                        while try await isAnswered(call, over: provider) {}
                    } catch {
                        print("\(error)")
                        Foundation.exit(3)
                    }
                }
            }
        }
    }

    /// Whether the backend expects more calls.
    private func isAnswered(_ url: URL, over provider: some DataRequestType) async throws -> Bool {
        let request = ApiRequest(url: url, headers: ["X-Process": "\(getpid())"])
        let response = try await provider.response(for: request)
        _ = try await response.body.collect(upTo: 100)
        if response.status == 410 { return false }
        // A 401 is fine, because the new token may already have expired.
        guard response.status == 200 || response.status == 401 else {
            throw ValidationError("the call was answered with \(response.status.rawValue)")
        }
        return true
    }
}
