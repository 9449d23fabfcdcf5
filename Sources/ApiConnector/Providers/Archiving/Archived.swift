// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A provider that records each exchange in an archive; made by ``DataRequestType/archived(in:)``.
struct Archived<Wrapped: DataRequestType>: DataRequestType {
    private let wrapped: Wrapped
    private let archive: ExchangeArchive?

    init(_ wrapped: Wrapped, in archive: ExchangeArchive?) {
        self.wrapped = wrapped
        self.archive = archive
    }

    /// Sends the request with the wrapped provider, and records the exchange.
    ///
    /// - Throws: The error of the wrapped provider.
    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        guard let archive else { return try await wrapped.response(for: request) }
        var request = request
        request.beginCall()
        let entry = archive.begin(request)
        do throws(ApiConnectorError) {
            var response = try await wrapped.response(for: request)
            entry.begin(response)
            let status = response.status
            response.body = try response.body.transformed { chunk in
                entry.append(chunk)
                archive.changed(entry)
                return chunk
            } onEnd: { end in
                switch end {
                case .finished: Self.end(entry, .answered(status), in: archive)
                case .failed(let error): Self.end(entry, .failed(error), error.timesRecord, in: archive)
                case .discarded: Self.end(entry, .left(status), in: archive)
                }
            }
            if response.body.collected == nil { archive.changed(entry) }
            return response
        } catch {
            Self.end(entry, .failed(error), error.timesRecord, in: archive)
            throw error
        }
    }

    private static func end(
        _ entry: ArchiveEntry,
        _ outcome: CallEvent.Outcome,
        _ timesRecord: TransportTimesRecord? = nil,
        in archive: ExchangeArchive
    ) {
        if entry.end(outcome, timesRecord) { archive.ended(entry, outcome) }
    }
}

extension DataRequestType {
    /// Returns a provider that records each exchange in an archive.
    ///
    /// Inside a retrying provider, next to the transport, it records each attempt and each hop of a redirect. All
    /// exchanges of a call have the same ``ArchivedExchange/call``. Outside a retrying provider, it records only the
    /// last attempt.
    ///
    /// - Parameter archive: The archive; nil records nothing.
    public func archived(in archive: ExchangeArchive?) -> some DataRequestType {
        Archived(self, in: archive)
    }
}
