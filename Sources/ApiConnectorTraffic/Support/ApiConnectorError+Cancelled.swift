// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension ApiConnectorError {
    static func cancelled(_ request: ApiRequest) -> ApiConnectorError {
        ApiConnectorError(.cancelled, "the call was canceled", request: request)
    }
}
