// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A fault, and the request that it befalls.
public struct PlannedFault: Sendable, Hashable {
    /// The request, as method and path with query: `GET /teas/1`.
    ///
    /// A plan that was made for requests with bodies has `~` and the body's hash behind it, which tells two of them
    /// apart.
    public let request: String

    /// Which of the same requests, counted from 1.
    public let call: Int

    /// What goes wrong.
    public let fault: Fault

    /// Plans a fault.
    ///
    /// - Parameters:
    ///   - request: Method and path with query, such as `GET /teas/1`.
    ///   - call: Which of the same requests, counted from 1; a retry is the next one; the first by default.
    ///   - fault: What goes wrong.
    public init(_ request: String, call: Int = 1, _ fault: Fault) {
        self.request = request
        self.call = call
        self.fault = fault
    }
}

/// The text is the request, its number and the fault, such as `GET /teas/1 #2 truncated@12`.
extension PlannedFault: LosslessStringConvertible, Codable {
    /// Reads a planned fault's text; nil if it is not one.
    public init?(_ description: String) {
        let words = description.split(separator: " ")
        guard words.count == 4, words[2].hasPrefix("#"), let call = Int(words[2].dropFirst()), call > 0,
            let fault = Fault(String(words[3]))
        else { return nil }
        self.init("\(words[0]) \(words[1])", call: call, fault)
    }

    /// The text.
    public var description: String { "\(request) #\(call) \(fault)" }

    /// Reads the text.
    public init(from decoder: any Decoder) throws {
        self = try Self.decode(from: decoder)
    }

    /// Writes the text.
    public func encode(to encoder: any Encoder) throws {
        try encodeText(to: encoder)
    }
}
