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
    func body(
        of arrival: TransferState.Arrival,
        _ coding: ContentCoding,
        _ how: BodyDecompression
    ) async throws(ApiConnectorError) -> ResponseBody {
        // If only the end of the connection ends the body, an empty body may have been cut before its first byte.
        let mayBeCut =
            request.method != .head && arrival.head.endsWithConnection && !arrival.head.headers.contains(.contentLength)
        guard case .collected(upTo: let limit) = request.delivery else {
            let source = DecodedBody(
                self,
                coding,
                how,
                to: request,
                mayBeEmpty: !mayBeCut,
                timesRecord: timesRecord
            )
            return ResponseBody(source: source)
        }
        guard !arrival.body.isEmpty else {
            if mayBeCut { throw BodyDecoding.truncated(coding) }
            timesRecord?.update { $0.decodedBodyByteCount = 0 }
            return ResponseBody(arrival.body)
        }
        let source = DecodedBody(arrival.body, coding, how, to: request)
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

/// Decodes a coded body in slices, without tasks, locks or clocks.
///
/// The work of a slice is bounded by its input and its output, because a hostile body may have much of one and none of
/// the other: a megabyte of empty deflate blocks has no output.
final class BodyDecoding {
    enum Slice: Equatable {
        /// The decoded bytes; never empty.
        case bytes(Data)
        /// Some input was consumed without any output.
        case nothing
        case needsInput
        /// The body is complete.
        case end
    }

    /// The maximum input of a slice: 16 KiB.
    static let inputByteCount = 16 << 10
    /// The maximum output of a slice: 64 KiB.
    static let outputByteCount = 64 << 10

    private let coding: ContentCoding
    private let mayBeEmpty: Bool
    private let libraries: DecodingLibraries
    private var expansion: ExpansionLimit
    private var decoder: (any ContentDecoder)?
    private var input = Data()
    private var position = 0
    private var isInputOver = false
    /// Whether the decoder may have more output than fit into the last slice.
    private var isFull = false
    private var isAtEnd = false

    /// Whether the last slice had the maximum length, so that other tasks should run before the next one.
    private(set) var isBusy = false

    /// - Parameter mayBeEmpty: Whether a body without a byte is complete; true by default.
    init(_ coding: ContentCoding, _ decompression: BodyDecompression, mayBeEmpty: Bool = true) {
        self.coding = coding
        self.mayBeEmpty = mayBeEmpty
        libraries = decompression.libraries
        expansion = decompression.limit
    }

    /// Appends received bytes; called when ``next()`` needs them.
    func append(_ coded: Data) {
        expansion.receive(coded.count)
        input = position < input.count ? input.dropFirst(position) + coded : coded
        position = 0
    }

    /// Marks the end of the received bytes.
    func end() {
        isInputOver = true
    }

    /// Decodes the next slice.
    func next() throws(ApiConnectorError) -> Slice {
        guard position < input.count || isFull else { return try endOfInput() }
        let decoder = try startedDecoder()
        let (step, bytes) = step(decoder)
        position += step.consumedByteCount
        isFull = step.producedByteCount == Self.outputByteCount && !step.isAtEnd
        isAtEnd = step.isAtEnd
        isBusy = isFull || step.consumedByteCount == Self.inputByteCount
        if let fault = step.fault {
            throw Self.malformed("the body is not valid \(coding.name) data: \(fault)")
        }
        if let reason = expansion.admit(step.producedByteCount) {
            throw ApiConnectorError(.bodyTooLarge, at: .response, reason)
        }
        return bytes.isEmpty ? .nothing : .bytes(bytes)
    }

    private func endOfInput() throws(ApiConnectorError) -> Slice {
        (input, position) = (Data(), 0)
        guard isInputOver else { return .needsInput }
        // A response to HEAD and an empty body can also name a coding.
        guard isAtEnd || (mayBeEmpty && expansion.receivedByteCount == 0) else {
            throw Self.truncated(coding)
        }
        return .end
    }

    /// The error of a body that ended before its coded data.
    static func truncated(_ coding: ContentCoding) -> ApiConnectorError {
        ApiConnectorError(
            .connectionLost,
            at: .response,
            "the body ended before the end of its \(coding.name) data: some of it is missing"
        )
    }

    private func startedDecoder() throws(ApiConnectorError) -> any ContentDecoder {
        if let decoder { return decoder }
        guard let new = libraries.decoder(of: coding) else {
            throw Self.malformed(
                "the body came in the content coding \(coding.name), which was not requested and is not decoded"
            )
        }
        decoder = new
        return new
    }

    private func step(_ decoder: any ContentDecoder) -> (DecodingStep, Data) {
        input.withUnsafeBytes { bytes in
            let end = min(bytes.count, position + Self.inputByteCount)
            let slice = UnsafeRawBufferPointer(rebasing: bytes[position..<end])
            return withUnsafeTemporaryAllocation(byteCount: Self.outputByteCount, alignment: 16) { output in
                var step = decoder.step(slice, output)
                if step.consumedByteCount + step.producedByteCount == 0, !slice.isEmpty, step.fault == nil {
                    step.fault = "the decoder makes no progress"
                }
                return (step, Data(UnsafeRawBufferPointer(output).prefix(step.producedByteCount)))
            }
        }
    }

    private static func malformed(_ reason: String) -> ApiConnectorError {
        ApiConnectorError(.malformedResponse, at: .response, ApiConnectorError.sentence(reason))
    }
}

#endif
