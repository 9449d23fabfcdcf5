// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl

extension CurlHandle {
    /// The error of a transfer that has failed.
    ///
    /// - Parameter code: libcurl's code, not 0.
    func error(_ code: Int32, of transfer: CurlTransfer) -> ApiConnectorError {
        if let failure = transfer.upload?.failure { return failure.completed(request: transfer.request) }
        if let failure = brokenRules(of: transfer) ?? refusedRepetition(of: transfer) { return failure }
        let words = errorWords
        if !head.isComplete, let error = proxyError(code, words, of: transfer) { return error }
        if code == 100, words.hasPrefix(CurlLogTexts.tooManyFields) {
            return sending.sendCount > 0
                ? ApiConnectorError(.malformedResponse, CurlHeadReader.tooManyFields, request: transfer.request)
                : ApiConnectorError(.cannotConnect, Self.tooManyTunnelFields, request: transfer.request)
        }
        if code == 56, tls.isCut, CurlLogTexts.unexpectedEnds.contains(where: words.contains) {
            return CurlTLSWatch.cut(transfer.request)
        }
        let error = TransferErrors.error(
            code,
            kind(of: code),
            words: words,
            general: String(cString: curl_easy_strerror(code)),
            request: transfer.request
        )
        return explain(error, code, words: words, hasHead: head.isComplete)
    }

    /// libcurl's own limit, from 8.14 on.
    private static let tooManyTunnelFields =
        "the proxy's response to CONNECT has more than 5000 fields, libcurl's limit"

    /// The kind of the error for a code of libcurl.
    func kind(of code: Int32) -> ApiConnectorError.Kind {
        var systemError = 0
        if code == 56 { ccurl_easy_get_long(easy.pointer, CCURLINFO_OS_ERRNO, &systemError) }
        return CurlRuntime.texts.kind(
            of: code,
            words: errorWords,
            hasHead: head.isComplete,
            isReset: systemError == Int(ECONNRESET)
        )
    }

    /// The error of a request that failed because the server violated HTTP/2; `nil` for any other end.
    func brokenRules(of transfer: CurlTransfer) -> ApiConnectorError? {
        guard hasBrokenRules else { return nil }
        // libcurl's text may contain the value of a field.
        let isOfStream = log.outcome == .malformed
        let detail =
            "the \(isOfStream ? "response violates HTTP/2" : "server violated HTTP/2, so the connection was closed")"
        return ApiConnectorError(.malformedResponse, detail, request: transfer.request)
    }

    /// The error of a request that libcurl was not allowed to send again.
    private func refusedRepetition(of transfer: CurlTransfer) -> ApiConnectorError? {
        if sending.isBodyUsedUp {
            return ApiConnectorError(
                .notReplayable,
                "after a lost connection or a 417, the request must be sent again, but its body cannot be read a "
                    + "second time",
                request: transfer.request
            )
        }
        guard sending.step == .refuse else { return nil }
        let reason =
            transfer.request.isRepeatable
            ? "the request was sent again already" : "\(transfer.request.method) is not sent twice"
        if log.isDowngraded {
            let obstacle =
                head.isComplete
                ? ", but its response has already begun, so the request is not sent again"
                : "; it may have processed the request, and \(reason)"
            var error = ApiConnectorError(
                .other,
                "the server requires HTTP/1.1 for this request (HTTP_1_1_REQUIRED)\(obstacle)",
                request: transfer.request
            )
            .advising(
                "Set CurlConfiguration.httpVersion to .http1. The provider's next requests to this server use HTTP/1.1."
            )
            error.isPermanent = true
            return error
        }
        let end =
            head.isComplete
            ? "during the response"
            : "after the request was sent and before a response came; the server may have processed the request, and \(reason)"
        return ApiConnectorError(.connectionLost, "the connection ended \(end)", request: transfer.request)
    }

    /// The error of a transfer that failed at its proxy; nil for any other failure, or without a proxy.
    private func proxyError(_ code: Int32, _ words: String, of transfer: CurlTransfer) -> ApiConnectorError? {
        guard let proxy = configuration.proxy.used(for: transfer.request.url) else { return nil }
        var status = 0
        ccurl_easy_get_long(easy.pointer, CCURLINFO_HTTP_CONNECTCODE, &status)
        return TransferErrors.proxyError(
            code,
            words: words,
            connectStatus: status,
            proxy: proxy,
            request: transfer.request
        )
    }

    /// The error of a transfer, with the setting at fault.
    private func explain(_ error: ApiConnectorError, _ code: Int32, words: String, hasHead: Bool) -> ApiConnectorError {
        guard let transfer else { return error }
        if let reason = descriptorShortage(code) {
            return ApiConnectorError(error.kind, "no socket can be opened: \(reason)", request: transfer.request)
        }
        guard transfer.requestHead.isSecure else {
            let url = transfer.request.url
            // A used connection has had a response without TLS, and a proxy's connection says nothing about the server.
            guard !hasHead, connecting.isNew, configuration.proxy.used(for: url) == nil else { return error }
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
            wasAskedForCertificate: tls.isAskingForCertificate,
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
        if code == 7, connecting.socketError != 0 { return CurlCommandQueue.reason("socket", connecting.socketError) }
        guard code == 6 else { return nil }
        // libcurl does not report why the resolver failed.
        let probe = eventfd(0, Int32(EFD_CLOEXEC))
        guard probe < 0 else {
            close(probe)
            return nil
        }
        return CurlCommandQueue.reason("eventfd", errno)
    }
}

extension TransportConfiguration.Proxy {
    /// The proxy that an error names; nil for no proxy.
    fileprivate func used(for url: URL) -> ProxySetting? {
        switch self {
        case .system: ProxySetting(for: url, environment: ProcessInfo.processInfo.environment)
        case .none: nil
        case .url(let url): ProxySetting(url.absoluteString, from: "the configuration's proxy setting")
        }
    }
}

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

#endif
