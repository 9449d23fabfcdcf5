// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension HAREntry {
    /// Makes an entry of a HAR file from an archived exchange.
    init(_ exchange: ArchivedExchange) {
        var call = ["id": exchange.call.description, "attempt": "\(exchange.attempt)"]
        if let route = exchange.routeName { call["route"] = route }
        if let version = exchange.times?.tlsVersion { call["tlsVersion"] = version }
        if let isReused = exchange.times?.isConnectionReused { call["isConnectionReused"] = "\(isReused)" }
        self.init(
            started: exchange.started,
            time: exchange.harTime,
            request: HARRequest(exchange),
            response: HARResponse(exchange),
            timings: HARTimings(exchange),
            serverAddress: exchange.times?.remoteAddress,
            comment: exchange.comment,
            end: exchange.outcome == nil ? "running" : exchange.isLeft ? "left" : nil,
            failure: exchange.failure.map { ["detail": $0] },
            call: call
        )
    }
}

extension HARRequest {
    fileprivate init(_ exchange: ArchivedExchange) {
        let body = exchange.body
        self.init(
            method: exchange.method.rawValue,
            url: exchange.url,
            httpVersion: exchange.times?.httpVersion,
            headers: exchange.headers.harPairs,
            body: body?.bytes ?? Data(),
            mediaType: body?.mediaType?.description,
            bodySize: body.map { $0.byteCount ?? -1 }
        )
    }
}

extension HARResponse {
    fileprivate init(_ exchange: ArchivedExchange) {
        let body = exchange.responseBody
        self.init(
            status: exchange.status?.rawValue,
            statusText: exchange.status.map { String($0.description.drop { $0 != " " }.dropFirst()) } ?? "",
            httpVersion: exchange.times?.httpVersion,
            headers: exchange.responseHeaders.harPairs,
            body: body?.bytes,
            mediaType: body?.mediaType?.description,
            size: body?.byteCount ?? 0,
            bodySize: exchange.times?.responseBodyByteCount.map { Int(clamping: $0) } ?? -1
        )
    }
}

extension HARTimings {
    fileprivate init(_ exchange: ArchivedExchange) {
        guard let times = exchange.times else {
            let head = exchange.headTime ?? exchange.elapsed
            self.init(wait: head, receive: max(exchange.elapsed - head, .zero))
            return
        }
        self.init(
            blocked: times[.waiting],
            dns: times[.nameLookup],
            connect: times[.connecting],
            ssl: times[.tlsHandshake],
            send: times[.sending],
            wait: times[.responseWait],
            receive: times[.receiving]
        )
    }
}

extension ArchivedExchange {
    /// HAR requires an entry's time to be the sum of its phases.
    fileprivate var harTime: Duration { times?.total ?? elapsed }

    fileprivate var isLeft: Bool { if case .left = outcome { true } else { false } }

    fileprivate var comment: String? {
        let truncated = [(body, "request"), (responseBody, "response")]
            .filter { $0.0?.isTruncated == true }
            .map { "the body of the \($0.1) is longer than the part that is kept" }
        return truncated.isEmpty ? nil : truncated.joined(separator: "; ")
    }
}

extension HTTPHeaders {
    fileprivate var harPairs: [HARPair] { map { HARPair(name: $0.name.rawValue, value: $0.value) } }
}
