// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
@testable import ApiConnectorTestServers
import ApiConnector

/// A relay to a TLS server that cuts the connection in place of the server's first alert, `close_notify` or another.
///
/// Without the cut, both sides would wait: the client for the end, and `openssl s_server` for the client's `close_notify`.
final class AlertDroppingRelay: Sendable {
    private let listener: Listener
    private let sockets = OpenSockets()

    init(to port: Int) throws {
        listener = try Listener()
        let (listener, sockets) = (listener, sockets)
        Self.startThread {
            while let client = try? listener.accept(), let server = try? Socket.connect(to: port) {
                sockets.add([client, server])
                Self.startThread { Self.pass(from: client, to: server) }
                Self.startThread {
                    Self.passUntilAlert(from: server, to: client)
                    client.close()
                    server.close()
                }
            }
        }
    }

    deinit {
        listener.close()
        sockets.close()
    }

    /// How many connections have come.
    var connectionCount: Int { sockets.count / 2 }

    /// The same URL on this relay's port.
    func url(for url: URL) -> URL {
        var parts = URLComponents(url: url, resolvingAgainstBaseURL: false)
        parts?.port = listener.port
        return parts?.url ?? url
    }

    private static func startThread(_ body: @escaping @Sendable () -> Void) {
        Thread(block: body).start()
    }

    private static func pass(from source: Socket, to target: Socket) {
        while let data = try? source.receive(), !data.isEmpty {
            guard (try? target.send(data)) != nil else { return }
        }
        try? target.finishSending()
    }

    private static func passUntilAlert(from source: Socket, to target: Socket) {
        var rest = Data()
        while let data = try? source.receive(), !data.isEmpty {
            rest += data
            let (records, endsWithAlert) = takeRecords(from: &rest)
            guard (try? target.send(records)) != nil, !endsWithAlert else { return }
        }
    }

    /// Takes the whole records up to the first alert.
    ///
    /// TLS 1.3 hides a record's type, but the two bytes of an alert make 19.
    private static func takeRecords(from rest: inout Data) -> (records: Data, endsWithAlert: Bool) {
        var records = Data()
        while rest.count >= 5 {
            let header = [UInt8](rest.prefix(5))
            let length = Int(header[3]) << 8 + Int(header[4])
            guard rest.count >= 5 + length else { break }
            if header[0] == 21 || (header[0] == 23 && length == 19) { return (records, true) }
            records += rest.prefix(5 + length)
            rest = Data(rest.dropFirst(5 + length))
        }
        return (records, false)
    }
}

private final class OpenSockets: Sendable {
    private let sockets = Locked<[Socket]>([])

    var count: Int { sockets.withLock { $0.count } }

    func add(_ new: [Socket]) { sockets.withLock { $0 += new } }

    func close() {
        for socket in sockets.withLock({ $0 }) { socket.close() }
    }
}
#endif
