// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A connection's configuration with one call's options laid over it.
struct CallSettings: Sendable {
    let configuration: ConnectionConfiguration

    /// The call's own header fields, which nothing takes away.
    let headers: HTTPHeaders

    /// Who is told how far the request's body has come.
    let uploadProgress: UploadProgress?

    init(_ connection: some ApiConnectionType, _ options: CallOptions) {
        configuration = connection.configuration.applying(options)
        headers = options.headers
        uploadProgress = options.uploadProgress
    }
}
