// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import FlyingFox
import Foundation
import Synchronization

/// A tea shop whose endpoints each have their own fault.
final class TeaBackend: Backend {
    private struct Menu: Encodable {
        struct Tea: Encodable {
            let name: String
            let price: Double
        }

        let teas = [Tea(name: "green", price: 3.5), Tea(name: "black", price: 2.8)]
    }

    private let busyCount = Mutex(0)

    func answer(_ call: Call) async throws -> HTTPResponse {
        guard call.method == "GET", call.path.count == 1 else { return missing }
        switch call.path.first {
        case "menu", "new": return try menu
        case "slow":
            try await Task.sleep(for: .milliseconds(min(max(call.number("wait") ?? 0, 0), 5_000)))
            return try menu
        case "busy":
            let count = busyCount.withLock { count in
                count += 1
                return count
            }
            return count.isMultiple(of: 3) ? try menu : .message("The kettle is not hot yet.", .serviceUnavailable)
        case "old":
            return HTTPResponse(statusCode: .found, headers: HTTPHeaders([.location: "new"]))
        case "lost":
            return HTTPResponse(
                statusCode: .ok,
                headers: [.contentType: "application/json"],
                body: HTTPBodySequence(from: BrokenBytes(), count: 100)
            )
        default:
            return missing
        }
    }

    private var menu: HTTPResponse {
        get throws { try .json(Menu(), headers: [HTTPHeader("Set-Cookie"): "session=4f2a91c7d0; HttpOnly"]) }
    }

    private var missing: HTTPResponse { .message("There is no such tea.", .notFound) }
}
