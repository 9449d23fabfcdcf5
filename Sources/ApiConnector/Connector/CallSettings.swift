// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// What holds for one call: its connection's settings with the call's options laid over them.
final class CallSettings: Sendable {
    let configuration: ConnectionConfiguration
    let environment: any ApiEnvironment
    let envelope: any ApiEnvelope.Type

    /// The call's own header fields, which nothing takes away.
    let headers: HTTPHeaders

    /// What the call wants of a cache.
    let cacheUse: CacheUse

    /// Who is told how far the request's body has come.
    let uploadProgress: UploadProgress?

    init<Connection: ApiConnectionType>(_ connection: Connection, _ options: CallOptions) {
        configuration = connection.configuration.applying(options)
        environment = connection.environment
        envelope = Connection.RouterType.EnvelopeType.self
        headers = options.headers
        cacheUse = options.cacheUse
        uploadProgress = options.uploadProgress
    }
}
