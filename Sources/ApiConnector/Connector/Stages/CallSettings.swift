// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The settings of one call: those of its connection with the call's options applied.
final class CallSettings: Sendable {
    let configuration: ConnectionConfiguration
    let provider: any DataRequestType
    let environment: any ApiEnvironment
    let envelope: any ApiEnvelope.Type

    /// The header fields of the call's options.
    ///
    /// A redirect removes some of them, for example credentials if the origin changes.
    let headers: HTTPHeaders

    /// The call's values for the providers.
    let values: RequestValues

    /// The progress of the request's upload.
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

    /// Names the call's time limit in an error if the limit has passed.
    func namingOverallLimit(in error: ApiConnectorError, after elapsed: Duration) -> ApiConnectorError {
        guard let overall = configuration.limits.timeouts.overall, elapsed >= overall else { return error }
        return error.naming(overall, "Timeouts.overall")
    }
}
