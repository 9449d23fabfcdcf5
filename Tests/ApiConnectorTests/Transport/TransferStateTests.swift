// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import ApiConnector

/// Every state by every event.
struct TransferStateTests {
    enum Event: String, CaseIterable {
        case head, bytes, end, fail, cancel, read, refuse, handOver
    }

    struct Row: CustomTestStringConvertible {
        let delivery: ResponseDelivery
        let path: [Event]
        /// The effect and the next phase of each event, in the order of `Event.allCases`.
        let outcomes: [String]

        var testDescription: String {
            "\(delivery == .streamed ? "streamed" : "collected"): \(path.map(\.rawValue).joined(separator: " "))"
        }
    }

    /// The window holds four bytes, `bytes` brings two, a collected body may have four.
    static let rows: [Row] = [
        Row(
            delivery: .collected(upTo: 4),
            path: [],
            outcomes: [
                "nobody, receiving", "refused, waiting", "caller connectionLost, ended", "caller connectionLost, ended",
                "caller cancelled, ended", "over nil, waiting", "waiting", "nothing, waiting",
            ]
        ),
        Row(
            delivery: .collected(upTo: 4),
            path: [.head],
            outcomes: [
                "nobody, receiving", "kept, receiving", "caller head+0, ended", "caller connectionLost, ended",
                "caller cancelled, ended", "waits, receiving", "receiving", "nothing, receiving",
            ]
        ),
        Row(
            delivery: .collected(upTo: 4),
            path: [.head, .bytes, .bytes],
            outcomes: [
                "nobody, receiving", "refused, receiving", "caller head+4, ended", "caller connectionLost, ended",
                "caller cancelled, ended", "chunk 4, receiving", "receiving", "nothing, receiving",
            ]
        ),
        Row(
            delivery: .collected(upTo: 4),
            path: [.head, .bytes, .bytes, .bytes],
            outcomes: [
                "nobody, receiving", "refused, receiving", "caller bodyTooLarge, ended", "caller bodyTooLarge, ended",
                "caller cancelled, ended", "chunk 4, receiving", "receiving", "nothing, receiving",
            ]
        ),
        Row(
            delivery: .collected(upTo: 4),
            path: [.head, .refuse],
            outcomes: [
                "nobody, receiving", "refused, receiving", "caller other, ended", "caller other, ended",
                "caller cancelled, ended", "waits, receiving", "receiving", "nothing, receiving",
            ]
        ),
        Row(
            delivery: .collected(upTo: 4),
            path: [.head, .end],
            outcomes: [
                "nobody, ended", "refused, ended", "nobody, ended", "nobody, ended", "nobody, ended", "over nil, ended",
                "ended", "nothing, ended",
            ]
        ),
        Row(
            delivery: .streamed,
            path: [],
            outcomes: [
                "caller head+0, receiving", "refused, waiting", "caller connectionLost, ended",
                "caller connectionLost, ended", "caller cancelled, ended", "over nil, waiting", "waiting",
                "nothing, waiting",
            ]
        ),
        Row(
            delivery: .streamed,
            path: [.head],
            outcomes: [
                "nobody, receiving", "kept, receiving", "nobody, received", "nobody, received", "nobody, ended",
                "waits, receiving", "receiving", "nothing, receiving",
            ]
        ),
        Row(
            delivery: .streamed,
            path: [.head, .read],
            outcomes: [
                "nobody, receiving", "awaited, receiving", "reader nil, ended", "reader connectionLost, ended",
                "reader cancelled, ended", "waits, receiving", "receiving", "nothing, receiving",
            ]
        ),
        Row(
            delivery: .streamed,
            path: [.head, .read, .bytes],
            outcomes: [
                "nobody, receiving", "awaited, receiving", "reader 2, received", "reader 2, received",
                "reader cancelled, ended", "chunk 2, receiving", "receiving", "handed chunk 2, receiving",
            ]
        ),
        Row(
            delivery: .streamed,
            path: [.head, .read, .bytes, .bytes, .bytes],
            outcomes: [
                "nobody, receiving", "full, receiving", "reader 4, received", "reader 4, received",
                "reader cancelled, ended", "chunk 4 resuming, receiving", "receiving",
                "handed chunk 4 resuming, receiving",
            ]
        ),
        Row(
            delivery: .streamed,
            path: [.head, .read, .bytes, .fail],
            outcomes: [
                "nobody, received", "refused, received", "nobody, received", "nobody, received", "nobody, ended",
                "over connectionLost, ended", "received", "nothing, received",
            ]
        ),
        Row(
            delivery: .streamed,
            path: [.head, .bytes, .bytes],
            outcomes: [
                "nobody, receiving", "full, receiving", "nobody, received", "nobody, received", "nobody, ended",
                "chunk 4, receiving", "receiving", "nothing, receiving",
            ]
        ),
        Row(
            delivery: .streamed,
            path: [.head, .bytes, .bytes, .bytes],
            outcomes: [
                "nobody, receiving", "full, receiving", "nobody, received", "nobody, received", "nobody, ended",
                "chunk 4 resuming, receiving", "receiving", "nothing, receiving",
            ]
        ),
        Row(
            delivery: .streamed,
            path: [.head, .bytes, .end],
            outcomes: [
                "nobody, received", "refused, received", "nobody, received", "nobody, received", "nobody, ended",
                "chunk 2, received", "received", "nothing, received",
            ]
        ),
        Row(
            delivery: .streamed,
            path: [.head, .bytes, .end, .read],
            outcomes: [
                "nobody, received", "refused, received", "nobody, received", "nobody, received", "nobody, ended",
                "over nil, ended", "received", "nothing, received",
            ]
        ),
        Row(
            delivery: .streamed,
            path: [.head, .bytes, .fail, .read],
            outcomes: [
                "nobody, received", "refused, received", "nobody, received", "nobody, received", "nobody, ended",
                "over connectionLost, ended", "received", "nothing, received",
            ]
        ),
        Row(
            delivery: .streamed,
            path: [.head, .cancel],
            outcomes: [
                "nobody, ended", "refused, ended", "nobody, ended", "nobody, ended", "nobody, ended",
                "over cancelled, ended", "ended", "nothing, ended",
            ]
        ),
    ]

    @Test(arguments: rows) func answersEveryEventInEveryState(_ row: Row) {
        #expect(row.outcomes.count == Event.allCases.count)
        for (event, expected) in zip(Event.allCases, row.outcomes) {
            var state = TransferState(delivery: row.delivery, windowByteCount: 4)
            for step in row.path { _ = apply(step, to: &state) }
            let outcome = [apply(event, to: &state), "\(state.phase)"].compactMap(\.self).joined(separator: ", ")
            #expect(outcome == expected, "\(event.rawValue)")
        }
    }

    /// The caller is answered at most once, and a reader that waits at most once.
    ///
    /// Over all sequences of four events: from the start, after the head, and with a full window.
    @Test(arguments: [ResponseDelivery.collected(upTo: 4), .streamed])
    func answersEachCallerOnce(_ delivery: ResponseDelivery) {
        // A collected body has no reader.
        let events = Event.allCases.filter { delivery == .streamed || $0 != .read }
        var sequenceCount = 0
        var failures: [String] = []
        func go(_ state: TransferState, _ path: [Event], callers: Int, waiting: Int, depth: Int) {
            if callers > 1 || waiting < 0 || waiting > 1 { failures.append("\(path)") }
            guard path.count < depth else {
                sequenceCount += 1
                return
            }
            // A reader comes after the caller's response, and there is one reader at a time.
            for event in events where event != .read || callers == 1 && waiting == 0 {
                var state = state
                let outcome = apply(event, to: &state) ?? ""
                go(
                    state,
                    path + [event],
                    callers: callers + (outcome.hasPrefix("caller") ? 1 : 0),
                    waiting: waiting + (outcome == "waits" ? 1 : 0)
                        - (outcome.hasPrefix("reader") || outcome.hasPrefix("handed") ? 1 : 0),
                    depth: depth
                )
            }
        }
        for start: [Event] in [[], [.head], [.head, .bytes, .bytes, .bytes]] {
            var state = TransferState(delivery: delivery, windowByteCount: 4)
            let callers = start.filter { (apply($0, to: &state) ?? "").hasPrefix("caller") }.count
            go(state, start, callers: callers, waiting: 0, depth: start.count + 4)
        }
        #expect(sequenceCount > 1000)
        #expect(failures.isEmpty)
    }

    /// The state of a body whose head a session has delivered.
    @Test func aBodyCanStartAfterItsHead() {
        var state = TransferState(delivery: .streamed, windowByteCount: 4, phase: .receiving)
        #expect(apply(.read, to: &state) == "waits")
        #expect(apply(.bytes, to: &state) == "awaited")
        #expect(apply(.handOver, to: &state) == "handed chunk 2")
    }

    private func apply(_ event: Event, to state: inout TransferState) -> String? {
        switch event {
        case .head: text(state.receive(TransferState.Head(status: 200)))
        case .bytes: text([UInt8](repeating: 1, count: 2).withUnsafeBytes { state.receive($0) })
        case .end: text(state.end(nil))
        case .fail: text(state.end(ApiConnectorError(.connectionLost, "it broke")))
        case .cancel: text(state.cancel(ApiConnectorError(.cancelled, "the call was canceled")))
        case .read: text(state.read())
        case .refuse: refusal(&state)
        case .handOver: state.handOver().map { "handed " + text($0) } ?? "nothing"
        }
    }

    private func refusal(_ state: inout TransferState) -> String? {
        state.refuse(ApiConnectorError(.other, "no more"))
        return nil
    }

    private func text(_ answer: TransferState.Action) -> String {
        switch answer {
        case .nobody: "nobody"
        case .caller(.success(let arrival)): "caller \(arrival.head.status == 200 ? "head" : "")+\(arrival.body.count)"
        case .caller(.failure(let error)): "caller \(error.kind)"
        case .reader(.success(let chunk)): "reader \(chunk.map { "\($0.count)" } ?? "nil")"
        case .reader(.failure(let error)): "reader \(error.kind)"
        }
    }

    private func text(_ intake: TransferState.Intake) -> String {
        switch intake {
        case .kept: "kept"
        case .awaited: "awaited"
        case .full: "full"
        case .refused: "refused"
        }
    }

    private func text(_ reading: TransferState.Reading) -> String {
        switch reading {
        case .waits: "waits"
        case .chunk(let chunk, resumes: let resumes): "chunk \(chunk.count)\(resumes ? " resuming" : "")"
        case .over(.success(let chunk)): "over \(chunk.map { "\($0.count)" } ?? "nil")"
        case .over(.failure(let error)): "over \(error.kind)"
        }
    }
}
