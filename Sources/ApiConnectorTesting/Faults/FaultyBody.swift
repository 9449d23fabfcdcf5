// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A streamed body with an injected fault, cut into chunks.
final class FaultyBody: Sendable {
    private struct State {
        var chunks: ResponseBody.AsyncIterator?
        var offset = 0
        /// The pieces that were cut, but not yet returned.
        var pieces: ArraySlice<Data> = []
        var silence: Silence?
        var isStopped = false
    }

    private let visit: FaultInjector.Visit
    private let state: Locked<State>

    init(_ body: ResponseBody, _ visit: FaultInjector.Visit) {
        self.visit = visit
        state = Locked(State(chunks: body.makeAsyncIterator()))
    }

    var body: ResponseBody {
        ResponseBody(
            pulling: { () async throws(ApiConnectorError) -> Data? in try await self.next() },
            cancel: { self.stop() }
        )
    }

    private func stop() {
        let silence = state.withLock { state in
            state.isStopped = true
            state.chunks = nil
            return state.silence
        }
        silence?.end(canceled)
    }

    private var canceled: ApiConnectorError {
        ApiConnectorError(.cancelled, at: .response, "the call was canceled", request: visit.request)
    }

    private func next() async throws(ApiConnectorError) -> Data? {
        while true {
            if let piece = state.withLock({ $0.pieces.popFirst() }) {
                visit.note(piece)
                return piece
            }
            let offset = state.withLock { $0.offset }
            if case .byte(let count)? = visit.fault?.place, offset >= count, let fault = breaking {
                try await strike(fault)
            }
            guard let chunk = try await pull() else {
                if let fault = breaking { try await strike(fault) }
                return end()
            }
            take(chunk, at: offset)
        }
    }

    /// The fault, if it ends the body.
    private var breaking: Fault? { visit.fault?.effect == .garbage ? nil : visit.fault }

    private func strike(_ fault: Fault) async throws(ApiConnectorError) {
        visit.noteInjected(fault)
        state.withLock { $0.chunks = nil }
        guard fault.isSilent else {
            if let failure = fault.failure(of: visit.request) { throw failure }
            return
        }
        let silence = fault.silence(of: visit.request)
        let isStopped = state.withLock { state in
            state.silence = silence
            return state.isStopped
        }
        if isStopped { throw canceled }
        throw await silence.wait()
    }

    private func pull() async throws(ApiConnectorError) -> Data? {
        guard let chunks = state.withLock({ $0.chunks }) else { return nil }
        return try await visit.serving { () async throws(ApiConnectorError) -> Data? in
            var chunks = chunks
            let chunk = try await chunks.next()
            self.state.withLock { if !$0.isStopped { $0.chunks = chunks } }
            return chunk
        }
    }

    private func take(_ chunk: Data, at offset: Int) {
        var chunk = chunk
        let whole = chunk.count
        if let fault = visit.fault, case .byte(let count) = fault.place, offset + whole > count {
            if fault.effect != .garbage {
                chunk = chunk.prefix(count - offset)
            } else {
                if offset <= count { visit.noteInjected(fault) }
                chunk = fault.garbled(chunk, at: offset)
            }
        }
        let pieces = visit.injector.chunking?.cut(chunk, at: offset) ?? [chunk]
        state.withLock { state in
            state.offset += chunk.count
            state.pieces = pieces.filter { !$0.isEmpty }[...]
        }
    }

    /// The end of the body (nil), or the garbage that replaces it.
    private func end() -> Data? {
        let (chunks, offset) = state.withLock { state in
            defer { state.chunks = nil }
            return (state.chunks, state.offset)
        }
        guard chunks != nil else { return nil }
        visit.noteEnd()
        guard let fault = visit.fault, fault.effect == .garbage, fault.strikesAtEnd(offset) else { return nil }
        visit.noteInjected(fault)
        return Fault.garbage(at: offset, byteCount: 16)
    }
}

/// How a body is cut into chunks.
struct Chunking: Sendable, Hashable, CustomStringConvertible {
    private enum Content: Sendable, Hashable {
        case every(Int)
        case at([Int])
    }

    private let content: Content

    /// Chunks of `byteCount` bytes.
    static func every(_ byteCount: Int) -> Chunking { Chunking(content: .every(max(byteCount, 1))) }

    /// Cuts at the given offsets.
    static func at(_ offsets: [Int]) -> Chunking { Chunking(content: .at(offsets.sorted())) }

    var description: String {
        switch content {
        case .every(let count): count == 1 ? "chunks of 1 byte" : "chunks of \(count) bytes"
        case .at(let offsets): "cut at \(offsets.map(String.init).joined(separator: ", "))"
        }
    }

    /// Cuts a part of a body.
    ///
    /// - Parameter offset: The offset of the part in the body.
    func cut(_ chunk: Data, at offset: Int) -> [Data] {
        var pieces: [Data] = []
        var start = offset
        let end = offset + chunk.count
        while start < end {
            let next = min(boundary(after: start), end)
            pieces.append(chunk.dropFirst(start - offset).prefix(next - start))
            start = next
        }
        return pieces
    }

    /// The first of the sorted offsets that is greater than `offset`.
    ///
    /// It uses a binary search, because a large body may have many offsets.
    private static func first(in offsets: [Int], after offset: Int) -> Int? {
        var range = 0..<offsets.count
        while let middle = range.isEmpty ? nil : (range.lowerBound + range.upperBound) / 2 {
            range = offsets[middle] > offset ? range.lowerBound..<middle : middle + 1..<range.upperBound
        }
        return range.lowerBound < offsets.count ? offsets[range.lowerBound] : nil
    }

    private func boundary(after offset: Int) -> Int {
        switch content {
        case .every(let count): (offset / count + 1) * count
        case .at(let offsets): Self.first(in: offsets, after: offset) ?? .max
        }
    }
}

extension Chunking {
    /// All chunkings to test for some bodies.
    ///
    /// - Chunks of 1 to 16 bytes, then of 32, 64, 128 … bytes.
    /// - Cuts at all hostile offsets at once.
    /// - A single cut: at each offset of a body of up to 512 bytes, and at up to 512 evenly spread hostile offsets of a
    ///   longer body.
    static func all(of bodies: [Data]) -> [Chunking] {
        let longest = bodies.map(\.count).max() ?? 0
        var sizes = Array(1..<max(min(longest, 17), 1))
        while let last = sizes.last, last >= 16, last * 2 < longest { sizes.append(last * 2) }
        let hostile = Set(bodies.flatMap(hostileOffsets)).sorted()
        let short = bodies.map(\.count).filter { $0 <= 512 }.max() ?? 0
        let count = min(hostile.count, 512)
        let taken = (0..<count).map { hostile[$0 * hostile.count / count] }
        let single = Set(taken).union(1..<max(short, 1)).sorted()
        return sizes.map { .every($0) } + (hostile.isEmpty ? [] : [.at(hostile)]) + single.map { .at([$0]) }
    }

    /// The offsets where a cut may break a parser: inside a character, an escape, a number, a line ending or an event's
    /// frame.
    static func hostileOffsets(of body: Data) -> [Int] {
        let bytes = Array(body)
        return bytes.indices.dropFirst().filter { index in
            let (before, after) = (bytes[index - 1], bytes[index])
            return after & 0xC0 == 0x80 || framing.contains(before) || framing.contains(after)
                || numeric.contains(before) && numeric.contains(after)
                || bytes[max(index - 5, 0)..<index].contains(UInt8(ascii: "\\"))
        }
    }

    /// CR, LF, the record separator of JSON text sequences, and the colon of a field.
    private static let framing: Set<UInt8> = [0x0D, 0x0A, 0x1E, UInt8(ascii: ":")]
    private static let numeric = Set("0123456789+-.eE".utf8)
}
