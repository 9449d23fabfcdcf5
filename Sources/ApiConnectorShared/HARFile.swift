// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import Foundation

/// Writes HAR 1.2 (HTTP Archive) files, which browsers' developer tools read.
///
/// The recorder of ApiConnectorTesting and the archive of a running program use it.
package enum HARFile {
    /// The bytes of a file with these entries.
    package static func data(_ entries: [HAREntry]) throws -> Data {
        try encoder.encode(Document(log: Log(entries: entries))) + Data("\n".utf8)
    }

    /// The bytes of one entry.
    package static func data(_ entry: HAREntry) throws -> Data { try encoder.encode(entry) }

    private struct Document: Encodable {
        let log: Log
    }

    private struct Log: Encodable {
        let version = "1.2"
        let creator = ["name": "ApiConnector", "version": "1"]
        let entries: [HAREntry]
    }

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    /// The text for an HTTP version; empty if it is unknown, as browsers write it.
    static func httpVersion(_ version: String?) -> String { version.map { "HTTP/\($0)" } ?? "" }

    /// A time in milliseconds with up to three decimal places.
    static func milliseconds(_ time: Duration) -> Double { ((time / .milliseconds(1)) * 1000).rounded() / 1000 }
}

/// An exchange in a HAR file.
package struct HAREntry: Encodable {
    let startedDateTime: String
    let time: Double
    let request: HARRequest
    let response: HARResponse
    let cache: [String: String] = [:]
    let timings: HARTimings
    var serverIPAddress: String?
    var comment: String?
    var end: String?
    var failure: [String: String]?
    var call: [String: String]?

    enum CodingKeys: String, CodingKey {
        case startedDateTime, time, request, response, cache, timings, serverIPAddress, comment
        // Names with an underscore are custom fields.
        case end = "_end"
        case failure = "_failure"
        case call = "_call"
    }

    /// - Parameters:
    ///   - end: How the response ended; nil for a normal end.
    ///   - failure: Details of an error, by name.
    ///   - call: Details of the call, by name.
    package init(
        started: Date,
        time: Duration,
        request: HARRequest,
        response: HARResponse,
        timings: HARTimings,
        serverAddress: String? = nil,
        comment: String? = nil,
        end: String? = nil,
        failure: [String: String]? = nil,
        call: [String: String]? = nil
    ) {
        startedDateTime = started.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        self.time = HARFile.milliseconds(time)
        self.request = request
        self.response = response
        self.timings = timings
        serverIPAddress = serverAddress
        self.comment = comment
        self.end = end
        self.failure = failure
        self.call = call
    }
}

/// The phases of an entry in milliseconds; -1 for a phase that did not take place.
package struct HARTimings: Encodable {
    var blocked: Double?
    var dns: Double?
    var connect: Double?
    var ssl: Double?
    let send: Double
    let wait: Double
    let receive: Double

    /// Makes the timings of an exchange for which only the times of the head and of the end are known.
    package init(wait: Duration, receive: Duration) {
        send = 0
        self.wait = HARFile.milliseconds(wait)
        self.receive = HARFile.milliseconds(receive)
    }

    /// Makes the timings of an exchange with measured phases.
    ///
    /// - Parameters:
    ///   - connect: Connecting, without the TLS handshake.
    ///   - ssl: The TLS handshake, which HAR includes in connecting.
    package init(
        blocked: Duration?,
        dns: Duration?,
        connect: Duration?,
        ssl: Duration?,
        send: Duration?,
        wait: Duration?,
        receive: Duration?
    ) {
        let known = { (time: Duration?) in time.map(HARFile.milliseconds) ?? -1 }
        self.blocked = known(blocked)
        self.dns = known(dns)
        self.connect = known(connect.map { $0 + (ssl ?? .zero) })
        self.ssl = known(ssl)
        self.send = HARFile.milliseconds(send ?? .zero)
        self.wait = HARFile.milliseconds(wait ?? .zero)
        self.receive = HARFile.milliseconds(receive ?? .zero)
    }
}
