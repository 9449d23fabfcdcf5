// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension ResponseStream {
    /// Everything up to the end, and what ended it if that was an error.
    func readToTheEnd() async -> (elements: [Element], error: ApiConnectorError?) {
        var elements: [Element] = []
        do throws(ApiConnectorError) {
            for try await element in self { elements.append(element) }
            return (elements, nil)
        } catch {
            return (elements, error)
        }
    }
}
