// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Runs the stages of a call.
///
/// 1. `CallTarget.draft(in:)` reads the route: URL, method, header fields and body.
/// 2. `RequestBuilder` adds the settings of the connection and the call.
/// 3. `RedirectStage` sends the request and follows redirects. Each hop goes through the providers to the transport.
/// 4. `ResponseBody` collects the body.
/// 5. `ResponseReader` validates the response, opens the envelope and decodes the value.
///
/// Only the first stage knows the router's type, and only the last stage knows the value's type. The stages in between
/// are not generic: if code uses a generic type that another module defines, Swift's runtime looks up the metadata of
/// this type at each use.
///
/// The stages are inlined into each other, because each asynchronous call allocates task memory and moves the large
/// response. Other code that runs once per call is inlined for the same reason: redirects, the
/// attempt, a body that is complete, and the response of TestConnector.
struct CallPipeline: Sendable {
    let settings: CallSettings

    init(_ connection: some ApiConnectionType, _ options: borrowing CallOptions) {
        settings = CallSettings(connection, options)
    }

    /// Runs all stages, from a request of ``request(_:accepting:)`` to the result of the call.
    ///
    /// - Parameters:
    ///   - request: Makes the request. It runs here, so that its errors also get the elapsed time.
    ///   - read: Converts the response to the call's result.
    func run<Outcome: Sendable>(
        _ request: @autoclosure () throws(ApiConnectorError) -> ApiRequest,
        _ read: @escaping @Sendable (ResponseReader) throws(ApiConnectorError) -> Outcome
    ) async throws(ApiConnectorError) -> Outcome {
        let start = settings.configuration.timeSource.now
        defer { settings.uploadProgress?.finish() }
        do throws(ApiConnectorError) {
            let reader = try await answer(to: request())
            do throws(ApiConnectorError) {
                return reader.isLarge ? try await reader.readInTask(read) : try read(reader)
            } catch {
                throw error.completed(request: reader.response.request)
            }
        } catch {
            let elapsed = settings.configuration.timeSource.now - start
            throw settings.namingOverallLimit(in: error.completed(request: nil, elapsed: elapsed), after: elapsed)
        }
    }

    /// Completes a draft with the settings of the connection and the call; runs before the first suspension.
    func request(_ draft: consuming ApiRequest, accepting fields: CallFields) throws(ApiConnectorError) -> ApiRequest {
        var request = draft
        try RequestBuilder(settings: settings, fields: fields).complete(&request)
        return request
    }

    /// Reports the length of the request's body to the upload progress.
    func beginUploadProgress(of request: ApiRequest) {
        settings.uploadProgress?.begin(of: request.body.byteCount, settings.configuration.timeSource)
    }

    /// Sends a request and collects the response's body.
    @inline(__always)
    private func answer(to request: consuming ApiRequest) async throws(ApiConnectorError) -> ResponseReader {
        var request = request
        beginUploadProgress(of: request)
        return try await collected(send(&request))
    }

    /// Collects a response's body.
    ///
    /// Usually the transport has already collected it. A user's provider may return a streamed body.
    @inline(__always)
    private func collected(_ response: consuming ApiResponse) async throws(ApiConnectorError) -> ResponseReader {
        do throws(ApiConnectorError) {
            let body = try await response.body.collect(upTo: settings.configuration.maximumBodyByteCount)
            return ResponseReader(response: response, body: body, settings: settings)
        } catch {
            throw error.completed(request: response.request)
        }
    }

    /// Sends a request through redirects and providers.
    ///
    /// Each hop has its own time limits.
    @inline(__always)
    func send(_ request: inout ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        do throws(ApiConnectorError) {
            let response = try await RedirectStage(settings).response(for: &request)
            try response.checkNotUnrequestedPart()
            return response
        } catch {
            throw error.completed(request: request)
        }
    }
}
