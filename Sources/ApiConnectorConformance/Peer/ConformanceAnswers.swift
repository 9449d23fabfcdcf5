// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
public import ApiConnector
public import ApiConnectorTesting

/// The answers of a conformance case, for a test double that returns canned answers.
///
/// A ``ConformanceTarget`` passes the answers to the closure that makes the double. Each case has its own answers.
public final class ConformanceAnswers: GivenResponseSource {
    let log = PeerLog()
    private let answers: PeerAnswers
    private let root = Locked(URL(filePath: "/"))
    private let gates = PeerGates()
    private let exchanges = Locked<[OpenExchange]>([])
    private let players = Locked<[Task<Void, Never>]>([])

    init(_ answers: PeerAnswers) {
        self.answers = answers
    }

    /// Sets the URL that requests are sent to.
    func serve(at url: URL) {
        root.withLock { $0 = url }
    }

    /// The case's answer to a request, for your own source that returns it.
    ///
    /// The request then counts as answered. Cases about cancellation need `TestConnector(answers)`.
    ///
    /// - Throws: The error that the request's body throws.
    public func response(for request: ApiRequest) async throws -> TestConnectorResponse {
        try await given(to: request).withoutExchange()
    }

    package func given(to request: ApiRequest) async throws -> GivenResponse {
        let arrived = PeerRequest(request)
        let answer = answers[arrived.target]
        let number = log.begin(arrived)
        let exchange = OpenExchange(number: number) { [log] outcome in
            if case .answered = outcome { log.end(number, isLeft: false) } else { log.end(number, isLeft: true) }
        } onWait: {
            // This source does not record which requests wait.
        }
        exchanges.withLock { $0.append(exchange) }
        do {
            let limit = ResponseDelivery.standard.maximumByteCount
            log.complete(number, body: answer.readsBody ? try await request.body.collect(upTo: limit) : Data())
            return GivenResponse(canned: try await response(answer.steps), exchange: exchange)
        } catch {
            exchange.end(error)
            throw error
        }
    }

    private func response(_ all: [PeerAnswer.Step]) async throws -> TestConnectorResponse {
        var steps = all[...]
        while case .hold(let number)? = steps.first {
            try await gates.gate(number).opened()
            steps.removeFirst()
        }
        switch steps.popFirst() {
        case .silence: return .never
        case .lost, .reset: return .status(200).failing(.beforeHead)
        case .lostInHead: return .status(200).failing(.inHead)
        case .head(let status, let headers, _): return response(status, headers, steps)
        case let step:
            throw CaseFailure(description: "a case without a connection uses \(step.map { "\($0)" } ?? "nothing")")
        }
    }

    /// A canned body: in one piece, in chunks, broken off, or fed while the client reads.
    private func response(
        _ status: HTTPStatus,
        _ headers: HTTPHeaders,
        _ steps: ArraySlice<PeerAnswer.Step>
    ) -> TestConnectorResponse {
        var chunks: [Data] = []
        for (index, step) in zip(steps.indices, steps) {
            switch step {
            case .bytes(let data): chunks.append(data)
            case .lost, .reset:
                let byteCount = chunks.reduce(0) { $0 + $1.count }
                return .chunks(chunks, status: status, headers: headers).failing(.afterByteCount(byteCount))
            default:
                let feed = BodyFeed()
                let rest = chunks.map(PeerAnswer.Step.bytes) + steps[index...]
                let player = Task { await play(rest, into: feed) }
                players.withLock { $0.append(player) }
                return .feed(feed, status: status, headers: headers)
            }
        }
        guard chunks.count > 1 else { return .data(chunks.first ?? Data(), status: status, headers: headers) }
        return .chunks(chunks, status: status, headers: headers)
    }

    private func play(_ steps: [PeerAnswer.Step], into feed: BodyFeed) async {
        do {
            for step in steps {
                switch step {
                case .bytes(let data): try await send(data, feed)
                case .endless:
                    let block = Data(count: 65_536)
                    while true { try await send(block, feed) }
                case .hold(let number): try await gates.gate(number).opened()
                case .silence: return
                default: return feed.fail()
                }
            }
            feed.finish()
        } catch {
            // The client no longer reads.
        }
    }

    private func send(_ data: Data, _ feed: BodyFeed) async throws {
        try await feed.send(data)
        log.sent(data.count)
    }
}

extension ConformanceAnswers: ConformancePeer {
    func url(_ target: String) -> URL {
        let root = root.withLock { $0 }
        return URL(string: target, relativeTo: root)?.absoluteURL ?? root
    }

    func release(_ hold: Int) { gates.gate(hold).open() }

    func stop() {
        for exchange in exchanges.withLock({ $0 }) {
            exchange.stopped.set(ApiConnectorError(.connectionLost, "the case is over"))
        }
        gates.openAll()
        // A player whose body is never read would otherwise wait forever.
        for player in players.withLock({ $0 }) { player.cancel() }
        log.close()
    }
}

extension PeerRequest {
    /// The parts of a request that a transport would send.
    fileprivate init(_ request: ApiRequest) {
        let path = request.url.path(percentEncoded: true)
        let query = request.url.query(percentEncoded: true).map { "?\($0)" } ?? ""
        var fields = request.headers.map { (name: $0.name.rawValue, value: $0.value) }
        if !request.headers.contains(.contentType), let type = request.body.mediaType {
            fields.append((name: "Content-Type", value: type.description))
        }
        self.init(method: request.method.rawValue, target: (path.isEmpty ? "/" : path) + query, fields: fields)
    }
}
