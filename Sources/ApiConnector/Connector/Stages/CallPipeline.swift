// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The way of a request, one line a stage; each stage is in the folder that its comment names.
///
/// Only its first stage knows the router's type and only its last the value's: what lies between is not generic, for
/// metadata of generic types are looked up again at each use outside the user's module. Its stages are inlined into one
/// another, for an asynchronous call takes memory of the task, and a response is large to be handed on; so are what
/// they go through once for each call: redirects, the attempt, a body that is all there, TestConnector's answer.
struct CallPipeline: Sendable {
    let settings: CallSettings

    init(_ connection: some ApiConnectionType, _ options: borrowing CallOptions) {
        settings = CallSettings(connection, options)
    }

    /// Goes the whole way, from a request that ``request(_:accepting:)`` has made to what the call returns.
    ///
    /// - Parameters:
    ///   - request: The request; what it throws is the call's failure.
    ///   - hand: Makes of the response what the call returns.
    func run<Outcome: Sendable>(
        _ request: @autoclosure () throws(ApiConnectorError) -> ApiRequest,
        _ hand: @escaping @Sendable (ResponseReader) throws(ApiConnectorError) -> Outcome
    ) async throws(ApiConnectorError) -> Outcome {
        let start = settings.configuration.timeSource.now
        defer { settings.uploadProgress?.finish() }
        do throws(ApiConnectorError) {
            let reader = try await answer(to: request())
            do throws(ApiConnectorError) {
                return reader.isLarge ? try await reader.leavingBehind(hand) : try hand(reader)
            } catch {
                throw error.completed(request: reader.response.request)
            }
        } catch {
            let elapsed = settings.configuration.timeSource.now - start
            throw settings.explain(error.completed(request: nil, elapsed: elapsed), after: elapsed)
        }
    }

    /// A draft with what the connection and the call add to it: all of this is before the first suspension.
    func request(_ draft: consuming ApiRequest, accepting accept: HTTPHeaders) throws(ApiConnectorError) -> ApiRequest {
        var request = draft
        try RequestBuilder(settings: settings, accept: accept).complete(&request)  // Routing, Request
        return request
    }

    /// Tells what watches the request's body of the body's length.
    func watchBody(of request: ApiRequest) {
        settings.uploadProgress?.begin(of: request.body.byteCount, settings.configuration.timeSource)
    }

    /// From a request to its response with the whole body.
    @inline(__always)
    private func answer(to request: consuming ApiRequest) async throws(ApiConnectorError) -> ResponseReader {
        var request = request
        watchBody(of: request)
        return try await collected(send(&request))  // Response
    }

    /// A response with its whole body.
    @inline(__always)
    private func collected(_ response: consuming ApiResponse) async throws(ApiConnectorError) -> ResponseReader {
        do throws(ApiConnectorError) {
            let body = try await response.body.collect(upTo: settings.configuration.maximumBodyByteCount)
            return ResponseReader(response: response, body: body, settings: settings)
        } catch {
            throw error.completed(request: response.request)
        }
    }

    /// Each hop is an attempt within its limits of time, through the whole chain of providers.
    @inline(__always)
    func send(_ request: inout ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        do throws(ApiConnectorError) {
            return try await RedirectStage(settings)
                .response(for: &request)  // Providers, Transport
        } catch {
            throw error.completed(request: request)
        }
    }
}
