// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// `{"code": …, "message": …}`, a common format of errors.
public struct CodedFailure: ApiModel, Error, Hashable {
    /// The backend's error code.
    public let code: Int

    /// The backend's error message.
    public let message: String

    /// Makes a failure, for example for a test.
    public init(code: Int, message: String) {
        self.code = code
        self.message = message
    }
}
