// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl

/// Finds the setting of a ``CurlConfiguration`` that is at fault when TLS fails.
struct CurlSecurityFault {
    let code: Int32
    /// libcurl's error text.
    let words: String
    /// Whether the server of this call's new connection has requested a client certificate and not accepted one.
    var wasAskedForCertificate = false
    /// Whether a response had begun.
    var hasHead = false
    let configuration: CurlConfiguration

    /// Whether the call failed because of the client's certificate.
    ///
    /// This is certain if the server says so in an alert. It is assumed if the server of a new connection has requested
    /// a certificate, and the connection then ends without a response.
    ///
    /// The alert of TLS 1.3 comes after the handshake, and a reset may overtake it.
    var isAboutClientCertificate: Bool {
        guard !hasHead, [16, 18, 35, 52, 55, 56, 92].contains(code) else { return false }
        return wasAskedForCertificate || Self.alerts.contains { words.contains($0) }
    }

    /// OpenSSL's names of the alerts about a client's certificate, and no other alerts.
    private static let alerts = [
        "alert certificate required", "alert bad certificate", "alert unknown ca", "alert certificate unknown",
        "alert certificate expired", "alert certificate revoked", "alert unsupported certificate",
    ]

    /// The advice for the fault, with the name of the setting; nil if no setting is at fault.
    var advice: String? {
        if isAboutClientCertificate { return clientCertificateAdvice }
        switch code {
        case 58: return ownCertificateAdvice
        // From 8.16 on, libcurl reports some of these faults as a bad argument.
        case 43 where CurlLogTexts.ownCertificate.contains(where: words.contains): return ownCertificateAdvice
        case 60 where TransferErrors.isUnknownAuthority(words):
            guard let file = configuration.certificateAuthorityFile else {
                return
                    "the system does not trust the server's certificate authority; set certificateAuthorityFile to its "
                    + "certificate"
            }
            return "the server's certificate authority is not in certificateAuthorityFile, \(file.path)"
        case 77:
            guard let file = configuration.certificateAuthorityFile else {
                return "the system's trusted certificates cannot be read; set certificateAuthorityFile"
            }
            return "certificateAuthorityFile, \(file.path), cannot be read as PEM certificates"
        case 90: return "the server's key is not in pinnedPublicKeys"
        default: return nil
        }
    }

    /// The advice that is shown instead of the kind's advice; empty to show no advice.
    var nextStep: String {
        code == 90 ? URLSessionPins.nextStep : ""
    }

    private var clientCertificateAdvice: String {
        guard let client = configuration.clientCertificate else {
            return "the server asks for a client certificate; set clientCertificate"
        }
        return "the server refuses the certificate of clientCertificate, \(client.certificateFile.path)"
    }

    /// Advice if libcurl cannot use the configured certificate.
    private var ownCertificateAdvice: String? {
        guard let client = configuration.clientCertificate else { return nil }
        if words.contains("does not match") {
            return "clientCertificate.keyFile, \(client.keyFile.path), is not the key of its certificateFile"
        }
        // OpenSSL 3 compares the key with the certificate while reading it, and libcurl does not report the result.
        if words.contains("private key") {
            return
                "clientCertificate.keyFile, \(client.keyFile.path), cannot be read as a PEM key with its password, or "
                + "is not the key of its certificateFile"
        }
        return
            "clientCertificate.certificateFile, \(client.certificateFile.path), cannot be read as a PEM certificate"
    }
}

extension CurlHandle {
    /// The error of a transfer, with the setting at fault.
    func explain(_ error: ApiConnectorError, _ code: Int32, words: String, hasHead: Bool) -> ApiConnectorError {
        guard let transfer else { return error }
        if let reason = descriptorShortage(code) {
            return ApiConnectorError(error.kind, "no socket can be opened: \(reason)", request: transfer.request)
        }
        guard transfer.block.isSecure else {
            let url = transfer.request.url
            // A used connection has had a response without TLS, and a proxy's connection says nothing about the server.
            guard !hasHead, isConnectionNew, configuration.proxy.used(for: url) == nil else { return error }
            return error.advising(TransferErrors.adviceWithoutTLS(code, at: url))
        }
        if error.kind == .malformedResponse, !hasHead, offersOnlyHTTP1(transfer) {
            return error.advising(
                "If the server has only HTTP/2, set CurlConfiguration.streamsOverHTTP2 to true: streams and downloads use "
                    + "HTTP/1.1 otherwise."
            )
        }
        let fault = CurlSecurityFault(
            code: code,
            words: words,
            wasAskedForCertificate: certificateWatch?.isAsking ?? false,
            hasHead: hasHead,
            configuration: configuration
        )
        guard let advice = fault.advice else { return error }
        return ApiConnectorError(
            .secureConnectionFailed,
            "\(ApiConnectorError.sentence(advice)) (\(error.detail))",
            request: transfer.request
        )
        .advising(fault.nextStep)
    }

    /// Why there is no descriptor for a socket or a resolver thread; nil if there is.
    private func descriptorShortage(_ code: Int32) -> String? {
        if code == 7, socketError != 0 { return CurlMailbox.reason("socket", socketError) }
        guard code == 6 else { return nil }
        // libcurl does not report why the resolver failed.
        let probe = eventfd(0, Int32(EFD_CLOEXEC))
        guard probe < 0 else {
            close(probe)
            return nil
        }
        return CurlMailbox.reason("eventfd", errno)
    }

    /// Makes libcurl pass the OpenSSL context of each new connection of this handle to a callback, which watches it.
    func setContextCallback(_ context: UnsafeMutableRawPointer) {
        guard CurlCertificateWatch.isPossible else { return }
        easy.set(CCURLOPT_SSL_CTX_DATA, context)
        ccurl_easy_set_context_callback(easy.pointer, CCURLOPT_SSL_CTX_FUNCTION) { _, ssl, context in
            let handle = CurlHandle.from(context)
            handle.certificateWatch = CurlCertificateWatch(ssl)
            handle.transfer?.note { $0.handshake = MonotonicTime.nanoseconds }
            return 0
        }
    }
}

#endif
