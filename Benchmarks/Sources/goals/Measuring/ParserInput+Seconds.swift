// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import MicroCases

extension ParserInput {
    /// Reads every element and returns the processor time in seconds.
    ///
    /// - Parameters:
    ///   - format: The format of the elements.
    ///   - count: The expected number of elements; nil for at least one.
    /// - Throws: `WrongFixture` if the number of elements differs.
    @concurrent
    func seconds<Element: Sendable>(reading format: StreamFormat<Element>, expecting count: Int?) async throws -> Double
    {
        let start = ProcessorTime.now
        var received = 0
        for try await element in body.stream(as: format, maximumRecordByteCount: 64 << 20) {
            keep(element)
            received += 1
        }
        let elapsed = ProcessorTime.now - start
        guard received == count ?? max(received, 1) else {
            throw WrongFixture(description: "\(received) elements, not \(count.map(String.init) ?? "some")")
        }
        return elapsed
    }
}

/// A record of about 110 bytes of JSON, as in the measurements of the rivals.
struct ParserRecord: Codable, Sendable {
    let id: Int
    let name: String
    let email: String
    let active: Bool
    let score: Double

    static func text(_ index: Int) -> String {
        #"{"id":\#(1_000_000 + index),"name":"Somebody Else","email":"somebody.else@example.com","active":true,"score":12.5}"#
    }
}
