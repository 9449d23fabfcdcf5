// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// What passed between a program and a backend, read from a HAR file: one that a ``Recorder`` wrote, or that a
/// browser's developer tools have exported.
public struct Recording: Sendable {
    /// What errors call it.
    let name: String

    var exchanges: [RecordedExchange]

    init(_ exchanges: [RecordedExchange], name: String) {
        self.exchanges = exchanges
        self.name = name
    }

    /// Reads a file of HAR 1.2.
    ///
    /// - Throws: ``RecordingError`` that names the line and what is wrong with it.
    public init(contentsOf file: URL) throws(RecordingError) {
        let data: Data
        do {
            data = try Data(contentsOf: file)
        } catch {
            throw RecordingError("\(file.lastPathComponent) cannot be read: \(error.localizedDescription)")
        }
        try self.init(har: data, name: file.lastPathComponent)
    }

    /// Reads HAR 1.2 that is in memory.
    ///
    /// - Parameters:
    ///   - data: The file's bytes.
    ///   - name: What errors call it; `the recording` by default.
    /// - Throws: ``RecordingError`` that names the line and what is wrong with it.
    public init(har data: Data, name: String = "the recording") throws(RecordingError) {
        self.init(try HARReader(data, name: name).exchanges(), name: name)
    }

    /// The requests in order, as far as a connection could send them; secrets have placeholders where a ``Recorder``
    /// wrote the file.
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
