// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
import ApiConnector
import Foundation
import Servers
import Testing

/// Tests of raw hostile servers, both without TLS and behind a HAProxy that adds TLS.
@Suite(.timeLimit(.minutes(10)), .enabled(if: HAProxy.isInstalled, "haproxy is missing: Scripts/setup haproxy"))
struct HostileServerTests {
    /// A raw server, and a URL that leads to it with or without TLS.
    private struct Target {
        let provider: CurlProvider
        let url: URL
        /// The port that the client connects to.
        let port: UInt16
        let proxy: HAProxy?
        private let server: RawServer

        init(overTLS: Bool, _ serve: @escaping @Sendable (RawConnection) -> Void) throws {
            server = try RawServer(serve)
            let proxy = overTLS ? try HAProxy(.tunnel(to: server.port)) : nil
            provider = .trusting(proxy?.authority)
            url = try proxy?.url("/") ?? server.url("/")
            port = proxy?.port ?? server.port
            self.proxy = proxy
        }

        func body(delivery: ResponseDelivery = .standard) async throws(ApiConnectorError) -> String {
            let response = try await provider.response(for: ApiRequest(url: url, delivery: delivery))
            return String(decoding: try await response.body.collect(upTo: 1 << 20), as: UTF8.self)
        }
    }

    /// The client must close the connection before it has read half of an endless part.
    @Test(arguments: HostileResponse.all, [false, true])
    func aHostileResponseFailsTheCall(_ hostile: HostileResponse, overTLS: Bool) async throws {
        let (takenByteCounts, continuation) = AsyncStream.makeStream(of: Int.self)
        let target = try Target(overTLS: overTLS) { continuation.yield(hostile.play(to: $0)) }
        var taken = takenByteCounts.makeAsyncIterator()
        for delivery in [ResponseDelivery.standard, .streamed] {
            let error = await #expect(throws: ApiConnectorError.self) { try await target.body(delivery: delivery) }
            #expect(error?.kind == hostile.kind, "\(delivery): \(String(describing: error))")
            #expect(try #require(await taken.next()) < RawConnection.longestRepetition / 2)
        }
    }

    /// A body without a length ends with the connection; only TLS can prove that end.
    @Test func aBodyWithoutALengthIsWholeOnlyWithTLSsFarewell() async throws {
        let target = try Target(overTLS: true) { connection in
            guard let head = connection.readHead() else { return }
            connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello")
            if !head.hasPrefix("GET / ") { connection.waitForClose() }
        }
        // The raw server closes the connection, and the proxy sends a TLS close_notify.
        #expect(try await target.body() == "hello")

        let cut = try #require(URL(string: "cut", relativeTo: target.url)).absoluteURL
        let response = try await target.provider.response(for: ApiRequest(url: cut, delivery: .streamed))
        var received = Data()
        let error = await #expect(throws: ApiConnectorError.self) {
            for try await chunk in response.body {
                received += chunk
                if received.count == 5 { try target.proxy?.kill() }
            }
        }
        #expect(received == Data("hello".utf8))
        #expect(error?.kind == .connectionLost)
    }

    /// Two responses to one request, in one write.
    @Test(arguments: [false, true])
    func aSecondResponseIsNeverThatOfTheNextCall(overTLS: Bool) async throws {
        let target = try Target(overTLS: overTLS) { connection in
            while connection.readHead() != nil {
                let body = "connection \(connection.number)"
                let good = "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                connection.send(good + "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
            }
        }
        for _ in 0..<10 { #expect(try await target.body().hasPrefix("connection ")) }
    }

    /// The server responds that the client was too slow, and may close the connection.
    @Test(arguments: [false, true], [false, true])
    func anUnsolicitedResponseIsNeverThatOfTheNextCall(overTLS: Bool, _ closes: Bool) async throws {
        let isFirstOver = DispatchSemaphore(value: 0)
        let target = try Target(overTLS: overTLS) { connection in
            guard connection.readHead() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
            if connection.number == 1 {
                guard isFirstOver.wait(timeout: .now() + 600) == .success else { return }
                connection.send("HTTP/1.1 408 Request Timeout\r\nContent-Length: 4\r\n\r\nevil")
                if closes { return }
            }
            connection.waitForClose()
        }
        #expect(try await target.body() == "hello")
        isFirstOver.signal()
        #expect(try ClientSocket.waitForInput(fromPort: target.port))
        #expect(try await target.body() == "hello")
    }
}
#endif
