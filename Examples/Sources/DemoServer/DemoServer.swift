// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import Foundation
import FlyingFox
import FlyingSocks

/// A server on a loopback port that holds the demo's backends in memory.
///
/// It does not use the library; it reads and writes its own JSON.
package enum DemoServer {
    /// Runs a server while a closure runs.
    ///
    /// The server listens on 127.0.0.1, by default on a free port. The closure gets the server's URL, such as
    /// `http://127.0.0.1:40123`. The stock fails according to the plan; by default it never fails.
    package static func run<Value: Sendable>(
        port: UInt16 = 0,
        faults: FaultPlan = .none,
        _ body: (URL) async throws -> Value
    ) async throws -> Value {
        let server = HTTPServer(
            address: try .inet(ip4: "127.0.0.1", port: port),
            pool: PromptPool(wrapped: HTTPServer.defaultPool()),
            logger: .disabled,
            handler: BackendsHandler(faults: faults)
        )
        return try await withThrowingTaskGroup(of: Void.self) { group in
            // The first task that ends shows whether the server could start. When the server is stopped later, it
            // throws an error, which is ignored.
            group.addTask { try await server.run() }
            group.addTask { try await server.waitUntilListening() }
            defer { group.cancelAll() }
            try await group.next()
            guard case .ip4(let host, let port) = await server.listeningAddress,
                let url = URL(string: "http://\(host):\(port)")
            else { throw SocketError.unsupportedAddress }
            let result = await Result { try await body(url) }
            await server.stop()
            return try result.get()
        }
    }
}

extension Result where Failure == any Error {
    /// Stores the result of a closure.
    fileprivate init(_ body: () async throws -> Success) async {
        do {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}
