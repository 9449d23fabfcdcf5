// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension TimeSource {
    /// Names the scale of its times: times of different scales cannot be compared.
    ///
    /// It holds for as long as a source that is an object lives.
    var scale: ObjectIdentifier {
        type(of: self) is AnyClass ? ObjectIdentifier(self as AnyObject) : ObjectIdentifier(type(of: self))
    }
}

extension ApiConnectorError {
    static func cancelled(_ request: ApiRequest) -> ApiConnectorError {
        ApiConnectorError(.cancelled, "the call was cancelled", request: request)
    }
}
