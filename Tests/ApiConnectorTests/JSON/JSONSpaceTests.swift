// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import ApiConnector

struct JSONSpaceTests {
    @Test func onlySpaceTabAndLineBreaksAreWhitespace() throws {
        for byte in UInt8.min...UInt8.max {
            let space = Data([byte])
            let json = space + Data("[".utf8) + space + Data("1".utf8) + space + Data(",2]".utf8) + space
            let value = try? JSONValue(json: json)
            #expect(value == ([0x20, 0x09, 0x0A, 0x0D].contains(byte) ? [1, 2] : nil), "byte \(byte)")
        }
    }
}
