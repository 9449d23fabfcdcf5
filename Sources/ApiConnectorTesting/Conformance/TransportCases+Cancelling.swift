// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension TransportCase {
    /// What a cancelled task sees, and the server too.
    static let cancelling: [TransportCase] = [
        TransportCase("sends nothing for a task that was cancelled before", serve: answerAll) { probe in
            let request = probe.request()
            let task = Task {
                while !Task.isCancelled { await Task.yield() }
                try await probe.demandFailure(of: .cancelled, sending: request)
            }
            task.cancel()
            try await task.value
            _ = try await probe.send(probe.request(.get, "/after"))
            try probe.demandEqual(probe.server.requests.map(\.target), ["/after"], "what was asked")
        },
        TransportCase(
            "M5: answers a cancel while the server is silent, and closes the connection",
            serve: { connection in
                guard try connection.readRequest() != nil else { return }
                try connection.waitUntilPeerCloses()
            },
            check: { probe in
                let task = Task { try await probe.demandFailure(of: .cancelled) }
                _ = try await probe.server.request(0)
                task.cancel()
                try await task.value
                try await probe.server.connectionEnded(0)
            }
        ),
        TransportCase(
            "answers a cancel within the body, and closes the connection",
            serve: { connection in
                guard try connection.readRequest() != nil else { return }
                try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhello")
                try connection.waitUntilPeerCloses()
            },
            check: { probe in
                let task = Task { try await probe.demandFailure(of: .cancelled) }
                _ = try await probe.server.request(0)
                task.cancel()
                try await task.value
                try await probe.server.connectionEnded(0)
            }
        ),
        TransportCase(
            "lets other calls go on beside one that waits",
            serve: { connection in
                while let request = try connection.readRequest() {
                    if request.target == "/silent" { return try connection.waitUntilPeerCloses() }
                    try connection.send(.text("ok"), answering: request)
                }
            },
            check: { probe in
                let silent = Task {
                    try await probe.demandFailure(of: .cancelled, sending: probe.request(.get, "/silent"))
                }
                _ = try await probe.server.request(0)
                for _ in 0..<5 { _ = try await probe.send(probe.request(.get, "/beside")) }
                silent.cancel()
                try await silent.value
            }
        ),
        TransportCase("answers every one of many calls, and cancels none but those", serve: answerAll) { probe in
            let outcomes = await withTaskGroup(of: (Int, ApiConnectorError.Kind?).self) { group in
                for number in 0..<60 {
                    group.addTask {
                        let call = Task { () async throws(ApiConnectorError) -> Data in
                            try await probe.send(probe.request()).body
                        }
                        if number.isMultiple(of: 2) { call.cancel() }
                        switch await call.result {
                        case .success: return (number, nil)
                        case .failure(let error): return (number, (error as? ApiConnectorError)?.kind ?? .other)
                        }
                    }
                }
                return await group.reduce(into: [:]) { $0[$1.0] = $1.1?.rawValue ?? "answered" }
            }
            try probe.demandEqual(outcomes.count, 60, "the number of answers")
            for (number, outcome) in outcomes where outcome != "answered" {
                try probe.demand(number.isMultiple(of: 2), "call \(number), which nobody cancelled, came to \(outcome)")
                try probe.demandEqual(outcome, "cancelled", "what call \(number) came to")
            }
        },
    ]
}
