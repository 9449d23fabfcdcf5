// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)

/// The transport with libcurl's multi interface, on Linux.
///
/// All requests of a provider share one thread, which starts with the first request and waits in the kernel. A streamed
/// body is read ahead by at most ``CurlConfiguration/streamWindowByteCount``. A cancellation ends a call immediately,
/// in every phase of the request. Redirects are returned as responses, not followed.
///
/// After the process calls `exit()` or returns from `main`, calls in flight never end, and new calls fail with kind
/// `.cancelled`. An exit handler causes this. To end the process without this handler, call `_exit`: it does not run
/// exit handlers, and it also does not flush buffered output. Do not use a provider in a child process made by `fork`
/// without `exec`: the child has none of the provider's threads.
public struct CurlProvider: DefaultDataRequestType {
    let engine: CurlEngine

    /// Makes a provider with the default configuration.
    ///
    /// All such providers share one thread and their connections.
    public init() {
        engine = .shared
    }

    /// Makes a provider with its own thread and connections.
    ///
    /// They end with the last copy of the provider. A streamed body that was not read completely then fails with kind
    /// `.cancelled`.
    public init(configuration: CurlConfiguration) {
        engine = CurlEngine(configuration)
    }

    /// - Parameter libraries: The libraries for decoding bodies.
    init(configuration: CurlConfiguration, libraries: DecodingLibraries) {
        engine = CurlEngine(configuration, libraries)
    }

    /// Sends a request and returns the response.
    ///
    /// - Throws: ``ApiConnectorError``; of kind `.cancelled` immediately after the task was canceled.
    @concurrent
    public func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        try request.checkSendable()
        return try await request.withTimeLimitsInlined { (request) throws(ApiConnectorError) in
            // libcurl would not read a body of 0 bytes, so that more bytes would be lost.
            let isAnnouncedEmpty = request.body.isStreamed && request.body.byteCount == 0
            let request = isAnnouncedEmpty ? try await request.collectingBody(upTo: 0) : request
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

/// Keeps a loop running as long as there is a copy of the provider.
final class CurlEngine: Sendable {
    static let shared = CurlEngine(CurlConfiguration())

    private let configuration: CurlConfiguration
    private let decompression: BodyDecompression?
    private let queue = Locked<CurlCommandQueue?>(nil)

    init(_ configuration: CurlConfiguration, _ libraries: DecodingLibraries = .system) {
        self.configuration = configuration
        decompression = BodyDecompression(configuration.decompression, libraries)
    }

    /// Whether libcurl may add cookies to any request; it does not report to which.
    var keepsCookies: Bool { configuration.cookies == .inMemory }

    deinit {
        queue.withLock { $0 }?.post(.stop)
    }

    func transfer(for request: ApiRequest) throws(ApiConnectorError) -> CurlTransfer {
        do throws(ApiConnectorError) {
            let queue = try startedQueue()
            return try CurlTransfer(
                request,
                windowByteCount: configuration.streamWindowByteCount,
                decompression: decompression,
                keepsCookies: keepsCookies,
                measuresTimes: configuration.measuresTimes,
                queue: queue
            )
        } catch {
            throw error.completed(request: request)
        }
    }

    /// The queue of commands to the loop, which is started on first use.
    func startedQueue() throws(ApiConnectorError) -> CurlCommandQueue {
        try queue.withLock { (queue) throws(ApiConnectorError) in
            if let queue { return queue }
            let new = try CurlCommandQueue(configuration)
            queue = new
            return new
        }
    }
}

extension ApiResponse {
    /// Makes a response from a transfer.
    fileprivate init(
        to request: ApiRequest,
        _ arrival: TransferState.Arrival,
        of transfer: CurlTransfer
    ) async throws(ApiConnectorError) {
        let head = arrival.head
        let body: ResponseBody
        if let decompression = transfer.decompression, let coding = head.coding {
            do {
                body = try await transfer.body(of: arrival, coding, decompression)
            } catch {
                throw error.completed(request: request)
            }
        } else {
            body = request.delivery == .streamed ? ResponseBody(source: transfer) : ResponseBody(arrival.body)
        }
        self.init(to: request, status: head.status, headers: head.headers, body: body)
    }
}

#endif
