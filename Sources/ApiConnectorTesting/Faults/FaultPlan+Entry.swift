// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension FaultPlan {
    /// A fault and the request that it affects.
    public struct Entry: Sendable, Hashable {
        /// The request: the method and the path with the query, such as `GET /teas/1`.
        ///
        /// In generated plans, `~` and a hash of the body follow if the request has a body.
        public let request: String

        /// The number of the call among equal requests, counted from 1.
        public let call: Int

        /// The fault.
        public let fault: Fault

        /// Makes a planned fault.
        ///
        /// - Parameters:
        ///   - request: The method and the path with the query, such as `GET /teas/1`.
        ///   - call: The number of the call among equal requests, counted from 1; 1 by default. A retry counts as the
        ///     next call.
        ///   - fault: The fault.
        public init(_ request: String, call: Int = 1, _ fault: Fault) {
            self.request = request
            self.call = call
            self.fault = fault
        }
    }
}

/// The text form is the request, its number and the fault, such as `GET /teas/1 #2 truncated@12`.
extension FaultPlan.Entry: LosslessStringConvertible, Codable {
    /// Parses a planned fault; nil if the text is not a planned fault.
    public init?(_ description: String) {
        let words = description.split(separator: " ")
        guard words.count == 4, words[2].hasPrefix("#"), let call = Int(words[2].dropFirst()), call > 0,
            let fault = Fault(String(words[3]))
        else { return nil }
        self.init("\(words[0]) \(words[1])", call: call, fault)
    }

    /// The text form.
    public var description: String { "\(request) #\(call) \(fault)" }

    /// Decodes the text form.
    public init(from decoder: any Decoder) throws {
        self = try Self.decode(from: decoder)
    }

    /// Encodes the text form.
    public func encode(to encoder: any Encoder) throws {
        try encodeText(to: encoder)
    }
}
