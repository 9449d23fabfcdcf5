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

    /// Who goes first where calls wait for each other.
    let priority: CallPriority

    /// What the call wants of a cache.
    let cacheUse: CacheUse

    /// Who is told how far the request's body has come.
    let uploadProgress: UploadProgress?

    init<Connection: ApiConnectionType>(_ connection: Connection, _ options: borrowing CallOptions) {
        var configuration = connection.configuration
        configuration.apply(options)
        self.configuration = consume configuration
        provider = connection.provider
        environment = connection.environment
        envelope = Connection.RouterType.EnvelopeType.self
        headers = options.headers
        priority = options.priority
        cacheUse = options.cacheUse
        uploadProgress = options.uploadProgress
    }

    /// An error with how long the call was allowed, where that time is over.
    func explain(_ error: ApiConnectorError, after elapsed: Duration) -> ApiConnectorError {
        guard let overall = configuration.timeouts.overall, elapsed >= overall else { return error }
        return error.naming(overall, "Timeouts.overall")
    }
}
