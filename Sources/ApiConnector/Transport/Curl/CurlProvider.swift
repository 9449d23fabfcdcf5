// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)

/// The transport over libcurl's multi interface, on Linux.
///
/// All requests of a provider share one thread, which waits in the kernel and starts with the first of them. A streamed
/// body is read ahead by ``CurlConfiguration/streamWindowByteCount`` and no further. A cancel is answered at once,
/// whatever the request is doing. Redirects are delivered and not followed.
///
/// After the process calls `exit()` or returns from `main`, calls in flight never end, and new calls fail with kind
/// `.cancelled`. `_exit` runs no exit handlers and flushes no output. Do not use a provider in a child process made by
/// `fork` without `exec`: the child has none of the provider's threads.
public struct CurlProvider: DefaultDataRequestType {
    private let engine: CurlEngine

    /// Makes the provider with its defaults; all that are made so share one thread and one set of connections.
    public init() {
        engine = .shared
    }

    /// Makes a provider with a thread and connections of its own.
    ///
    /// They end with its last copy; a streamed body that is not read to its end then fails with kind `.cancelled`.
    public init(configuration: CurlConfiguration) {
        engine = CurlEngine(configuration)
    }

    /// - Parameter libraries: What bodies are decoded with.
    init(configuration: CurlConfiguration, libraries: DecodingLibraries) {
        engine = CurlEngine(configuration, libraries)
    }

    /// Sends a request and hands back what came.
    ///
    /// - Throws: ``ApiConnectorError``; of kind `.cancelled`, and at once, when the task is canceled.
    @concurrent
    public func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        try request.checkSendable()
        return try await request.limitingTime { (request) throws(ApiConnectorError) in
            let transfer = try engine.transfer(for: request)
            let outcome = await request.withStopHandler {
                await withUnsafeContinuation { transfer.start(reporting: $0) }
            } readPending: {
                transfer.readPending(then: $0)
            } onStop: {
                transfer.stop($0)
            }
            switch outcome {
            case .success(let arrival):
                var response = try await ApiResponse(to: request, arrival, of: transfer)
                response.mayDependOnStoredCookies = engine.keepsCookies
                response.timesRecord = transfer.timesRecord
                return response
            case .failure(let error):
                throw error.completed(request: request)
            }
        }
    }
}

/// Keeps a loop as long as somebody has the provider.
private final class CurlEngine: Sendable {
    static let shared = CurlEngine(CurlConfiguration())

    private let configuration: CurlConfiguration
    private let decompression: BodyDecompression?
    private let loop = Locked<CurlLoop?>(nil)

    init(_ configuration: CurlConfiguration, _ libraries: DecodingLibraries = .system) {
        self.configuration = configuration
        decompression = BodyDecompression(configuration.decompression, libraries)
    }

    /// Whether libcurl may add cookies to any request; it does not tell to which.
    var keepsCookies: Bool { configuration.cookies == .inMemory }

    deinit {
        loop.withLock { $0 }?.post(.stop)
    }

    func transfer(for request: ApiRequest) throws(ApiConnectorError) -> CurlTransfer {
        do throws(ApiConnectorError) {
            let loop = try runningLoop()
            return try CurlTransfer(
                request,
                windowByteCount: configuration.streamWindowByteCount,
                decompression: decompression,
                keepsCookies: keepsCookies,
                loop: loop
            )
        } catch {
            throw error.completed(request: request)
        }
    }

    /// The loop, which its first user starts.
    private func runningLoop() throws(ApiConnectorError) -> CurlLoop {
        try loop.withLock { (loop) throws(ApiConnectorError) in
            if let loop { return loop }
            let new = try CurlLoop(configuration)
            loop = new
            return new
        }
    }
}

extension ApiResponse {
    /// What a transfer brought.
    fileprivate init(
        to request: ApiRequest,
        _ arrival: TransferState.Arrival,
        of transfer: CurlTransfer
    ) async throws(ApiConnectorError) {
        guard let head = CurlResponseHead(arrival.head) else {
            throw ApiConnectorError(
                .connectionLost,
                "the connection was closed before the head of the response was whole",
                request: request
            )
        }
        let body: ResponseBody
        if let decompression = transfer.decompression, let coding = ContentCoding(head.headers) {
            body = try await transfer.body(arrival.body, coding, decompression)
        } else {
            body = request.delivery == .streamed ? ResponseBody(source: transfer) : ResponseBody(arrival.body)
        }
        self.init(to: request, status: head.status, headers: head.headers, body: body)
    }
}

#endif
