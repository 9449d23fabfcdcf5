// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// `{"code": …, "message": …}`, the usual body of an error.
public struct CodedFailure: ApiModel, Error, Hashable {
    /// The backend's number for what went wrong.
    public let code: Int

    /// The backend's words.
    public let message: String

    /// Makes a failure, such as for a test.
    public init(code: Int, message: String) {
        self.code = code
        self.message = message
    }
}
