// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import ApiConnectorTestServers

extension ConformanceCase {
    private static let make = CaseMaker(topic: .cancels)

    /// Cases about cancellation: what the caller and the server see.
    static let cancels: [ConformanceCase] = [
        make("sends nothing for a task that is already canceled") { probe in
            let task = Task {
                while !Task.isCancelled { await Task.yield() }
                _ = try await probe.demandFailure(of: .cancelled, sending: probe.request("/never"))
            }
            task.cancel()
            try await task.value
            try await probe.demandNothingWasSent()
        },
        make("ends a canceled call while the server is silent", .each(.steps(.silence))) { probe in
            try await probe.demandCancel(of: probe.request()) { _ = try await $0.log.request(0) }
        },
        make("disconnects from a silent server after a cancel", .each(.steps(.silence))) { probe in
            try await probe.demandCancel(of: probe.request()) { _ = try await $0.log.request(0) }
            try await probe.log.callerLeft(0)
        },
        make("ends a canceled call within the body, and disconnects", .each(unfinished)) { probe in
            try await probe.demandCancel(of: probe.request()) { _ = try await $0.log.request(0) }
            try await probe.log.callerLeft(0)
        },
        make("ends a canceled stream, and disconnects", .each(unfinished)) { probe in
            try await probe.demandCancelOfReader(whileReading: true)
            try await probe.log.callerLeft(0)
        },
        make("ends a stream whose reader is canceled between two chunks", .each(unfinished)) { probe in
            try await probe.demandCancelOfReader(whileReading: false)
            try await probe.log.callerLeft(0)
        },
        make(
            "ends a canceled call while it sends the body",
            .each(PeerAnswer(steps: [.hold(0), .silence], readsBody: false))
        ) { probe in
            let body = RequestBody.data(Data(count: 16 << 20))
            try await probe.demandCancel(of: probe.request("/", .put, body)) { try await $0.log.arrival(0) }
        },
        make("ends a canceled call while the body's source is idle, and releases the source", .each(.steps(.silence))) {
            probe in
            let (isTaken, isGone) = (Eventual<Void>(), Eventual<Void>())
            // Only the transport holds the stream, so the stream terminates when the transport releases it. The
            // transport must do so when the task is canceled between two chunks.
            let chunks = Locked<AsyncStream<Data>?>(
                AsyncStream { continuation in
                    continuation.yield(Data("the beginning".utf8))
                    continuation.onTermination = { _ in isGone.set(()) }
                }
            )
            let body = RequestBody.stream {
                defer { isTaken.set(()) }
                return chunks.withLock { $0.take() } ?? AsyncStream { $0.finish() }
            }
            try await probe.demandCancel(of: probe.request("/", .put, body)) {
                try await $0.log.arrival(0)
                try await isTaken.value(within: .seconds(600), orSay: "the source was not read")
            }
            try await isGone.value(within: .seconds(600), orSay: "the source was not released")
        },
        make.wire("ends a canceled call within the TLS handshake", .onConnection(.steps(.silence))) { probe in
            var request = probe.request()
            request.url = URL(string: "https://\(LoopbackServer.host):\(try probe.server().port)/") ?? request.url
            try await probe.demandCancel(of: request) { try await $0.log.arrival(0) }
        },
        make("works after a canceled call", ["/silent": .steps(.silence)]) { probe in
            for number in 0..<3 {
                let before = probe.log.requests.count
                try await probe.demandCancel(of: probe.request("/silent")) { _ = try await $0.log.request(before) }
                try probe.demandEqual(try await probe.text(probe.request("/\(number)")), "ok", "the body after it")
            }
        },
        make("cancels only the canceled calls") { probe in
            let outcomes = await withTaskGroup(of: (Int, String).self) { group in
                for number in 0..<60 {
                    group.addTask {
                        let call = Task { try await probe.text(probe.request()) }
                        if number.isMultiple(of: 2) { call.cancel() }
                        switch await call.result {
                        case .success: return (number, "answered")
                        case .failure(let error):
                            return (number, (error as? ApiConnectorError)?.kind.rawValue ?? "other")
                        }
                    }
                }
                return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
            try probe.demandEqual(outcomes.count, 60, "the number of answers")
            for (number, outcome) in outcomes where outcome != "answered" {
                try probe.demand(number.isMultiple(of: 2), "call \(number) was not canceled, but ended as \(outcome)")
                try probe.demandEqual(outcome, "cancelled", "the outcome of call \(number)")
            }
        },
    ]

    private static let unfinished = PeerAnswer.steps(.head(length: 1_000), .text("abc"), .silence)
}
