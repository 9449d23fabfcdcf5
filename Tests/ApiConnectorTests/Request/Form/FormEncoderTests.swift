// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

/// The encoder that a value sees when it is encoded as a form.
struct FormEncoderTests {
    private struct Custom: Encodable, Sendable {
        let write: @Sendable (any Encoder) throws -> Void
        func encode(to encoder: any Encoder) throws { try write(encoder) }
    }

    @Test func aValueSeesItsPath() throws {
        let paths = EventLog<[String]>()
        let value = Custom { encoder in
            #expect(encoder.userInfo.isEmpty)
            var single = encoder.singleValueContainer()
            paths.note(single.codingPath.map(\.stringValue))
            try single.encode("x")
        }
        #expect(try FormRow(["a": ["b": value]], "", as: .standard, "").body.removingPercentEncoding == "a[b]=x")
        #expect(paths.events.last == ["a", "b"])
    }
}
