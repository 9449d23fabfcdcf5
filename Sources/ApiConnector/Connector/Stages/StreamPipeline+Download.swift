// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension StreamPipeline {
    /// Opens a download that can be resumed after a break.
    func download(
        to file: URL,
        resuming policy: RetryPolicy?,
        calls: FileCalls
    ) async throws(ApiConnectorError) -> OpenStream<DownloadEvent> {
        var request = try request(.ofDownload)
        guard !request.headers.contains(.range) else {
            throw ApiConnectorError(
                .invalidRequest,
                at: .request,
                "a download sets the Range field itself, but the request already has one",
                request: request
            )
        }
        // A download with another method is never resumed, and must not resume the part file of a GET.
        let url = (request.method == .get ? "" : "\(request.method) ") + DownloadRecord.text(of: request.url)
        let timeSource = configuration.timeSource
        let deadline = configuration.limits.timeouts.overall.map { timeSource.now + $0 }
        let mark = StreamMark()
        if policy != nil { request.values.streamMark = mark }
        let part: PartFile
        do {
            part = try PartFile(of: file, from: url, calls: calls)
        } catch {
            throw error.completed(request: request)
        }
        var stream: OpenStream<DownloadEvent>
        do throws(ApiConnectorError) {
            stream = try await connect(part, url, deadline, request)
        } catch {
            part.release()
            throw error
        }
        if let policy, let attempt = stream.attempt {
            stream.resumption = StreamResumption(policy, after: attempt, mark) {
                (_, next) async throws(ApiConnectorError) in
                var request = try self.request(.ofDownload)
                Self.resume(&request, as: next)
                do throws(ApiConnectorError) {
                    return try await connect(part, url, deadline, request)
                } catch {
                    part.pause()
                    throw error
                }
            }
        }
        return stream
    }

    /// Requests the bytes that the part lacks, or the whole file if the rest is not available.
    private func connect(
        _ part: PartFile,
        _ url: String,
        _ deadline: Duration?,
        _ request: ApiRequest
    ) async throws(ApiConnectorError) -> OpenStream<DownloadEvent> {
        // The same request asks for the rest, and for the whole file if the server refuses the range.
        var made: ApiRequest? = request
        if let point = part.point {
            made = request.body.isReplayable ? request : nil
            let answer = try await ask(part, from: point, deadline, request)
            let (validator, total) = (point.record.validator, point.record.totalByteCount)
            switch RangedAnswer(answer.response, from: point.offset, of: validator, totalByteCount: total) {
            case .rest:
                // If another download has changed the part meanwhile, this rest does not fit.
                guard try open(part, for: answer) else { break }
                let chunks = try answer.acceptedAsRest()
                return try await open(answer, chunks, part) { () throws(ApiConnectorError) in
                    try part.goOn(at: point.offset)
                    let range = answer.response.headers[.contentRange].flatMap { ContentRange($0) }
                    return range?.totalByteCount ?? total
                }
            case .whole: return try await whole(answer, part, url)
            case .nothing, .outOfRange, .unfit: break
            }
        }
        return try await whole(try await ask(part, from: nil, deadline, made), part, url)
    }

    private func ask(
        _ part: PartFile,
        from point: (offset: Int, record: DownloadRecord)?,
        _ deadline: Duration?,
        _ made: ApiRequest?
    ) async throws(ApiConnectorError) -> StreamedAnswer {
        var fields = CallFields.ofDownload
        if let point { fields.resumption = RangeResumption.fields(from: point.offset, of: point.record.validator) }
        part.hold.begin()
        return try await answer(fields, deadline: deadline, made: made) { $0.values.fileHold = part.hold }
    }

    /// Starts over with a response that contains the whole file.
    private func whole(
        _ answer: StreamedAnswer,
        _ part: PartFile,
        _ url: String
    ) async throws(ApiConnectorError) -> OpenStream<DownloadEvent> {
        let response = answer.response
        guard response.status != 206 else {
            throw answer.completing(
                ApiConnectorError(
                    .malformedResponse,
                    at: .response,
                    "the server answered \(response.status), a part of the file, but the whole file was requested"
                )
            )
        }
        let chunks = try await answer.accepted()
        return try await open(answer, chunks, part) { () async throws(ApiConnectorError) in
            _ = try part.open()
            try await part.begin(DownloadRecord(url, answer))
            return response.wholeByteCount
        }
    }

    /// Opens the part file for a response; see ``PartFile/open()``.
    private func open(_ part: PartFile, for answer: StreamedAnswer) throws(ApiConnectorError) -> Bool {
        do throws(ApiConnectorError) { return try part.open() } catch { throw answer.completing(error) }
    }

    /// - Parameter prepare: Prepares the part for the body; returns the length of the whole file.
    private func open(
        _ answer: StreamedAnswer,
        _ chunks: ResponseBody.AsyncIterator,
        _ part: PartFile,
        _ prepare: () async throws(ApiConnectorError) -> Int?
    ) async throws(ApiConnectorError) -> OpenStream<DownloadEvent> {
        do throws(ApiConnectorError) {
            let total = try await prepare()
            let parser = DownloadParser(
                part,
                answer.response.head,
                totalByteCount: total,
                timeSource: configuration.timeSource
            )
            var stream = OpenStream(chunks: chunks, parser: parser, completing: answer.completing)
            stream.beforeEnd = { () async throws(ApiConnectorError) in try await part.finish(total) }
            stream.onFailure = { part.release() }
            stream.onBreak = { part.pause() }
            stream.attempt = answer.makeAttempt()
            return stream
        } catch {
            throw answer.completing(error)
        }
    }
}

extension DownloadRecord {
    /// The record for resuming the download of a whole response; nil if the download cannot be resumed.
    init?(_ url: String, _ answer: StreamedAnswer) {
        guard answer.rangeObstacle == nil, let validator = Validator(answer.response.headers) else { return nil }
        self.init(url: url, validator: validator.text, totalByteCount: answer.response.wholeByteCount)
    }
}
