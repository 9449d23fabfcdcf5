// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)

/// A coded body that is decoded by the task that reads it, only as far as it is read.
///
/// Between two slices other tasks can run, and a cancellation or a time limit ends the work.
final class DecodedBody: ResponseBodySource {
    private let coded: (any ResponseBodySource)?
    private let request: ApiRequest
    private let timesRecord: TransportTimesRecord?
    private let decoding: Locked<BodyDecoding?>
    /// Why the body was stopped.
    private let stopped = Locked<ApiConnectorError?>(nil)

    /// Makes the body from a transfer's coded body.
    ///
    /// - Parameters:
    ///   - mayBeEmpty: Whether a coded body without a byte is complete; true by default.
    ///   - timesRecord: Counts the decoded bytes; nil by default.
    init(
        _ coded: some ResponseBodySource,
        _ coding: ContentCoding,
        _ how: BodyDecompression,
        to request: ApiRequest,
        mayBeEmpty: Bool = true,
        timesRecord: TransportTimesRecord? = nil
    ) {
        self.coded = coded
        self.timesRecord = timesRecord
        self.request = request
        decoding = Locked(BodyDecoding(coding, how, mayBeEmpty: mayBeEmpty))
    }

    /// Makes the body from collected bytes.
    init(_ coded: Data, _ coding: ContentCoding, _ how: BodyDecompression, to request: ApiRequest) {
        self.coded = nil
        timesRecord = nil
        self.request = request
        let decoding = BodyDecoding(coding, how)
        decoding.append(coded)
        decoding.end()
        self.decoding = Locked(decoding)
    }

    func next() async throws(ApiConnectorError) -> Data? {
        do throws(ApiConnectorError) {
            while true {
                switch try await slice() {
                case .bytes(let bytes):
                    timesRecord?.update {
                        $0.decodedBodyByteCount = ($0.decodedBodyByteCount ?? 0) + Int64(bytes.count)
                    }
                    return bytes
                case .end: return nil
                case .nothing: break
                case .needsInput:
                    let chunk = try await coded?.next()
                    decoding.withLock { decoding in
                        if let chunk { decoding?.append(chunk) } else { decoding?.end() }
                    }
                }
            }
        } catch {
            let error = error.completed(request: request)
            stop(error)
            throw error
        }
    }

    func cancel() {
        stop(.cancelled(request))
    }

    /// Ends the work, and makes a pending `next()` fail.
    func stop(_ error: ApiConnectorError) {
        stopped.withLock { $0 = $0 ?? error }
        // A task that is decoding a slice notices the stop afterwards.
        _ = decoding.withLockIfAvailable { $0 = nil }
        coded?.cancel()
    }

    private var isStopped: Bool { stopped.withLock { $0 != nil } }

    /// Decodes a slice, outside any actor.
    @concurrent private func slice() async throws(ApiConnectorError) -> BodyDecoding.Slice {
        if decoding.withLock({ $0?.isBusy == true }) { await Task.yield() }
        let slice = try decoding.withLock { (decoding) throws(ApiConnectorError) in
            if isStopped { decoding = nil }
            return try decoding?.next()
        }
        guard let slice else { throw stopped.withLock { $0 } ?? .cancelled(request) }
        return slice
    }
}

extension CurlTransfer {
    /// The decoded body.
    ///
    /// A collected body is decoded here, on the caller's task and within the call's time limits.
    ///
    /// - Parameter endsWithConnection: Whether only the end of the connection ends the body. An empty body may then
    ///   have been cut before its first byte.
    func body(
        _ collected: Data,
        _ coding: ContentCoding,
        _ how: BodyDecompression,
        endsWithConnection: Bool
    ) async throws(ApiConnectorError) -> ResponseBody {
        guard case .collected(upTo: let limit) = request.delivery else {
            let source = DecodedBody(
                self,
                coding,
                how,
                to: request,
                mayBeEmpty: !endsWithConnection,
                timesRecord: timesRecord
            )
            return ResponseBody(source: source)
        }
        guard !collected.isEmpty else {
            if endsWithConnection { throw BodyDecoding.truncated(coding) }
            timesRecord?.update { $0.decodedBodyByteCount = 0 }
            return ResponseBody(collected)
        }
        let source = DecodedBody(collected, coding, how, to: request)
        let reader = ResponseBodyReader(source)
        let outcome = await request.withStopHandler(appliesStall: false) {
            () async -> Result<Data, ApiConnectorError> in
            do throws(ApiConnectorError) {
                return .success(try await reader.collect(upTo: limit))
            } catch {
                return .failure(error.completed(request: request))
            }
        } onStop: { error in
            source.stop(error)
        }
        let decoded = try outcome.get()
        timesRecord?.update { $0.decodedBodyByteCount = Int64(decoded.count) }
        return ResponseBody(decoded)
    }
}

#endif
