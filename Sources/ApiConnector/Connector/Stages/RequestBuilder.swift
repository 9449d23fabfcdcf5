// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Turns a draft into the request for the providers: adds header fields and limits, and encodes the body.
struct RequestBuilder {
    let settings: CallSettings
    /// The header fields that the library adds for the kind of call, such as `Accept`.
    ///
    /// The fields of the call's options are in `settings`.
    let fields: CallFields

    func complete(_ request: inout ApiRequest) throws(ApiConnectorError) {
        let hasType = request.headers.contains(.contentType) || settings.headers.contains(.contentType)
        let routeHost = request.headers[.host]
        request.use(settings.configuration.requestSettings)
        try request.context?.writeDates(into: &request, with: settings.configuration.encoder)
        mergeHeaders(of: &request)
        do {
            request.body = try request.body.encoded(with: settings.configuration.encoder)
        } catch {
            throw error.completed(request: request)
        }
        fields.add(to: &request, options: settings.headers, hasType: hasType)
        if let conflict = RequestFlaw.conflict(in: request, routeHost: routeHost) {
            throw ApiConnectorError(.invalidRequest, at: .request, conflict, request: request)
        }
        request.delivery = .collected(upTo: settings.configuration.maximumBodyByteCount)
        let draftValues = request.values
        request.values = settings.values
        request.values.joinRefreshes(of: draftValues)
        if let overall = settings.configuration.limits.timeouts.overall {
            request.deadline = settings.configuration.timeSource.now + overall
        }
        if request.context?.hasRoute != true { request.withholdCredentialsIfForeign() }
        try request.checkSendable()
    }

    /// Merges the header fields of environment, router, connection and call, in this order; a later field wins.
    ///
    /// If the request goes to an origin other than the environment's, credentials of the environment and the connection
    /// are removed.
    private func mergeHeaders(of request: inout ApiRequest) {
        var headers = settings.environment.defaultHeaders
        headers.merge(request.headers)
        headers.merge(settings.configuration.headers)
        // A route has the environment's origin; a URL can have any origin.
        if request.context?.hasRoute != true, request.isToOwnOrigin == false {
            headers.removeSecrets()
        }
        headers.merge(settings.headers)
        request.headers = headers
    }
}
