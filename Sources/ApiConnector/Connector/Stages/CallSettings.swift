// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// What holds for one call: its connection's settings with the call's options laid over them.
final class CallSettings: Sendable {
    let configuration: ConnectionConfiguration
    let provider: any DataRequestType
    let environment: any ApiEnvironment
    let envelope: any ApiEnvelope.Type

    /// The call's own header fields, which nothing takes away.
    let headers: HTTPHeaders

    /// What the call hands to the providers.
    let values: RequestValues

    /// Who is told how far the request's body has come.
    var uploadProgress: UploadProgress? { values.uploadProgress }

    init<Connection: ApiConnectionType>(_ connection: Connection, _ options: borrowing CallOptions) {
        var configuration = connection.configuration
        configuration.apply(options)
        self.configuration = consume configuration
        provider = connection.provider
        environment = connection.environment
        envelope = Connection.RouterType.EnvelopeType.self
        headers = options.headers
        values = options.values
    }

    /// An error with how long the call was allowed, where that time is over.
    func explain(_ error: ApiConnectorError, after elapsed: Duration) -> ApiConnectorError {
        guard let overall = configuration.limits.timeouts.overall, elapsed >= overall else { return error }
        return error.naming(overall, "Timeouts.overall")
    }
}
