// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Glibc

/// A GET by hand over a blocking socket, which always reads into the same 256 KiB.
enum BareSocket {
    static func read(_ url: URL, _ take: (Data) async throws -> Void) async throws {
        let socket = try connect(to: UInt16(url.port ?? 80))
        defer { close(socket) }
        let request = Array("GET \(url.path) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".utf8)
        guard send(socket, request, request.count, 0) == request.count else { throw URLError(.networkConnectionLost) }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
        defer { buffer.deallocate() }
        guard let base = buffer.baseAddress else { return }
        var isBody = false
        while case let count = recv(socket, base, buffer.count, 0), count > 0 {
            var chunk = Data(bytesNoCopy: base, count: count, deallocator: .none)
            if !isBody {
                // nginx sends its head in one piece.
                guard let end = chunk.firstRange(of: Data("\r\n\r\n".utf8)) else { throw URLError(.badServerResponse) }
                chunk = chunk[end.upperBound...]
                isBody = true
            }
            if !chunk.isEmpty { try await take(chunk) }
        }
    }

    private static func connect(to port: UInt16) throws -> CInt {
        let socket = Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            close(socket)
            throw URLError(.cannotConnectToHost)
        }
        return socket
    }
}
