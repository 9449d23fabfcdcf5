// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// A source that records how its responses end.
package protocol GivenResponseSource: ResponseSource {
    /// The response to a request, with the exchange in which it is delivered.
    func given(to request: ApiRequest) async throws -> GivenResponse
}
