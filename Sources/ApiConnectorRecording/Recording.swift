// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector
public import ApiConnectorTesting

/// Recorded exchanges from a HAR file that a ``Recorder`` wrote or a browser's developer tools exported.
public struct Recording: Sendable {
    /// The name in error texts.
    package let name: String

    package var exchanges: [RecordedExchange]

    init(_ exchanges: [RecordedExchange], name: String) {
        self.exchanges = exchanges
        self.name = name
    }

    /// Reads a file of HAR 1.2.
    ///
    /// - Throws: ``/ApiConnectorTesting/FixtureError`` with the line and the problem.
    public init(contentsOf file: URL) throws(FixtureError) {
        let data: Data
        do {
            data = try Data(contentsOf: file)
        } catch {
            throw FixtureError("\(file.lastPathComponent) cannot be read: \(error.localizedDescription)")
        }
        try self.init(har: data, name: file.lastPathComponent)
    }

    /// Reads HAR 1.2 from memory.
    ///
    /// - Parameters:
    ///   - data: The file's bytes.
    ///   - name: The name in error texts; `the recording` by default.
    /// - Throws: ``/ApiConnectorTesting/FixtureError`` with the line and the problem.
    public init(har data: Data, name: String = "the recording") throws(FixtureError) {
        self.init(try HARReader(data, name: name).exchanges(), name: name)
    }

    /// The requests in order, except those that a connection cannot send.
    ///
    /// In a file that a ``Recorder`` wrote, placeholders replace the secrets.
    public var requests: [ApiRequest] { exchanges.compactMap(\.request) }
}

extension RecordedExchange {
    /// The request; nil if its URL cannot be requested.
    var request: ApiRequest? {
        guard let url = URL(string: url), ["http", "https"].contains(url.scheme?.lowercased()) else { return nil }
        var request = ApiRequest(url: url, method: method, headers: headers)
        if let body, !body.isEmpty { request.body = .data(body, mediaType: mediaType ?? .octetStream) }
        return request
    }
}
