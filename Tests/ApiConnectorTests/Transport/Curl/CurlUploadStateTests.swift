// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import ApiConnector

struct CurlUploadStateTests {
    private func supply(_ state: inout CurlUploadState, _ byteCount: Int = 4) -> String {
        var buffer = [UInt8](repeating: 0, count: byteCount)
        let supply = buffer.withUnsafeMutableBytes { state.supply($0) }
        guard case .copied(let count) = supply else { return "\(supply)" }
        return String(decoding: buffer[..<count], as: UTF8.self)
    }

    private func deliver(_ text: String, to state: inout CurlUploadState) -> Bool {
        state.deliver(Data(text.utf8))
    }

    private func finish(_ state: inout CurlUploadState, _ error: ApiConnectorError?) -> Bool {
        state.finish(error)
    }

    @Test func suppliesAWholeBodyPieceByPiece() {
        var state = CurlUploadState(whole: Data("abcdef".utf8))
        #expect([supply(&state), supply(&state), supply(&state)] == ["abcd", "ef", "end"])
        state.rewind()
        #expect(supply(&state) == "abcd")
    }

    @Test func pausesWhileTheSourceIsIdle() {
        var state = CurlUploadState()
        #expect(state.wantsChunk)
        #expect(supply(&state) == "pause")
        #expect(deliver("ab", to: &state))
        #expect(!state.wantsChunk)
        #expect(supply(&state) == "ab")
        #expect(!deliver("cd", to: &state))
        #expect(supply(&state, 1) == "c")
        #expect(!finish(&state, nil))
        #expect([supply(&state), supply(&state)] == ["d", "end"])
    }

    @Test func wakesLibcurlForTheEnd() {
        var state = CurlUploadState()
        #expect(supply(&state) == "pause")
        #expect(finish(&state, nil))
        #expect(supply(&state) == "end")
    }

    @Test func failsWithTheSourcesOwnError() {
        var state = CurlUploadState()
        #expect(supply(&state) == "pause")
        #expect(finish(&state, ApiConnectorError(.encodingFailed, "no")))
        #expect(supply(&state) == "fail")
        #expect(state.failure?.kind == .encodingFailed)
    }

    @Test func readsASliceFromItsStart() {
        var state = CurlUploadState()
        _ = state.deliver(Data("xxabcd".utf8).dropFirst(2))
        #expect(supply(&state) == "abcd")
    }
}
