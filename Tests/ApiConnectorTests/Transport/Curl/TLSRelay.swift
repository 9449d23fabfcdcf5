// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
@testable import ApiConnectorTestServers
@testable import ApiConnector
@testable import ApiConnectorTesting

/// A TLS server that passes each connection on to a plain server, which depends on the protocol chosen by ALPN.
///
/// It uses the OpenSSL that libcurl has loaded, because `openssl s_server` cannot choose a server by protocol.
final class TLSRelay: Sendable {
    /// A protocol by its name in ALPN, and the port of its server, in the server's order of preference.
    typealias Choice = (name: String, port: Int)

    private let listener: Listener
    private let settings: Settings

    /// - Parameter choices: A client that offers none of them gets the alert `no_application_protocol`.
    init(_ certificates: TLSCertificates, _ choices: [Choice]) throws {
        settings = try Settings(certificates, choices)
        listener = try Listener()
        Thread { [listener, settings] in
            while let client = try? listener.accept() {
                Thread { settings.serve(client) }.start()
            }
        }
        .start()
    }

    deinit { listener.close() }

    var url: URL { URL(string: "https://127.0.0.1:\(listener.port)/") ?? URL(filePath: "/") }

    /// The protocols of the connections so far.
    var protocols: [String] { settings.protocols.withLock { $0 } }
}

/// Unchecked, because OpenSSL's context is not changed after the initialization.
private final class Settings: @unchecked Sendable {
    private typealias Pointer = UnsafeMutableRawPointer
    private typealias Select =
        @convention(c) (
            Pointer?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, UnsafeMutablePointer<UInt8>?, UnsafePointer<UInt8>?,
            UInt32, Pointer?
        ) -> Int32

    let protocols = Locked<[String]>([])
    private let choices: [TLSRelay.Choice]
    /// The choices in ALPN's format: each name after its length.
    private let names: [[UInt8]]
    private let context: Pointer

    init(_ certificates: TLSCertificates, _ choices: [TLSRelay.Choice]) throws {
        self.choices = choices
        names = choices.map { [UInt8($0.name.utf8.count)] + Array($0.name.utf8) }
        let method: @convention(c) () -> Pointer? = try Self.function("TLS_server_method")
        let makeContext: @convention(c) (Pointer?) -> Pointer? = try Self.function("SSL_CTX_new")
        let useCertificate: @convention(c) (Pointer?, UnsafePointer<CChar>, Int32) -> Int32 = try Self.function(
            "SSL_CTX_use_certificate_file"
        )
        let useKey: @convention(c) (Pointer?, UnsafePointer<CChar>, Int32) -> Int32 = try Self.function(
            "SSL_CTX_use_PrivateKey_file"
        )
        let setSelect: @convention(c) (Pointer?, Select?, Pointer?) -> Void = try Self.function(
            "SSL_CTX_set_alpn_select_cb"
        )
        guard let context = makeContext(method()) else { throw LoopbackError.system(call: "SSL_CTX_new", code: 0) }
        self.context = context
        // 1 is SSL_FILETYPE_PEM.
        guard useCertificate(context, certificates.certificate("server").path, 1) == 1,
            useKey(context, certificates.key("server").path, 1) == 1
        else { throw LoopbackError.system(call: "SSL_CTX_use_certificate_file", code: 0) }
        let select: Select = { _, chosen, chosenCount, offered, offeredCount, settings in
            guard let settings, let chosen, let chosenCount, let offered else { return 2 }
            let names = Unmanaged<Settings>.fromOpaque(settings).takeUnretainedValue().names
            for name in names {
                var rest = UnsafeBufferPointer(start: offered, count: Int(offeredCount))[...]
                while let count = rest.first.map({ Int($0) + 1 }), count <= rest.count {
                    if rest.prefix(count).elementsEqual(name) {
                        chosen.pointee = offered + rest.startIndex + 1
                        chosenCount.pointee = UInt8(count - 1)
                        return 0
                    }
                    rest = rest.dropFirst(count)
                }
            }
            // SSL_TLSEXT_ERR_ALERT_FATAL
            return 2
        }
        setSelect(context, select, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit {
        let free: (@convention(c) (Pointer?) -> Void)? = try? Self.function("SSL_CTX_free")
        free?(context)
    }

    private static func function<Function>(_ name: String) throws -> Function {
        guard let function: Function = CurlOpenSSL.function(name) else {
            throw LoopbackError.system(call: name, code: ENOSYS)
        }
        return function
    }

    func serve(_ client: Socket) {
        // OpenSSL writes to a closed connection with SIGPIPE.
        var signals = sigset_t()
        sigfillset(&signals)
        pthread_sigmask(SIG_SETMASK, &signals, nil)
        try? client.use { try pass($0) }
        client.close()
    }

    private func pass(_ client: Int32) throws {
        let make: @convention(c) (Pointer?) -> Pointer? = try Self.function("SSL_new")
        let free: @convention(c) (Pointer?) -> Void = try Self.function("SSL_free")
        let setDescriptor: @convention(c) (Pointer?, Int32) -> Int32 = try Self.function("SSL_set_fd")
        let accept: @convention(c) (Pointer?) -> Int32 = try Self.function("SSL_accept")
        let read: @convention(c) (Pointer?, Pointer?, Int32) -> Int32 = try Self.function("SSL_read")
        let write: @convention(c) (Pointer?, UnsafeRawPointer?, Int32) -> Int32 = try Self.function("SSL_write")
        let pending: @convention(c) (Pointer?) -> Int32 = try Self.function("SSL_pending")
        let shutDown: @convention(c) (Pointer?) -> Int32 = try Self.function("SSL_shutdown")
        let chosen:
            @convention(c) (Pointer?, UnsafeMutablePointer<UnsafePointer<UInt8>?>, UnsafeMutablePointer<UInt32>) ->
                Void = try Self.function("SSL_get0_alpn_selected")

        guard let ssl = make(context) else { return }
        defer { free(ssl) }
        guard setDescriptor(ssl, client) == 1, accept(ssl) == 1 else { return protocols.withLock { $0.append("none") } }
        var start: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        chosen(ssl, &start, &count)
        let name = String(decoding: UnsafeBufferPointer(start: start, count: Int(count)), as: UTF8.self)
        protocols.withLock { $0.append(name) }
        guard let port = choices.first(where: { $0.name == name })?.port else { return }
        let server = try Socket.connect(to: port)
        defer { server.close() }
        try server.use { descriptor in
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            while true {
                var ready = [
                    pollfd(fd: client, events: Int16(POLLIN), revents: 0),
                    pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                ]
                if pending(ssl) == 0 { guard poll(&ready, 2, -1) > 0 else { return } }
                if ready[0].revents != 0 || pending(ssl) > 0 {
                    let count = read(ssl, &buffer, Int32(buffer.count))
                    guard count > 0, (try? server.send(Data(buffer.prefix(Int(count))))) != nil else { return }
                }
                if ready[1].revents != 0 {
                    let count = recv(descriptor, &buffer, buffer.count, 0)
                    guard count > 0, write(ssl, buffer, Int32(count)) == Int32(count) else {
                        _ = shutDown(ssl)
                        return
                    }
                }
            }
        }
    }
}
#endif
