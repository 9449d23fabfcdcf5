// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The elements that a format reads from a body that arrives in chunks.
func elements<Element: Sendable>(
    of type: Element.Type = Element.self,
    _ format: StreamFormat<Element>,
    in chunks: [Data],
    decoder: JSONDecoder = JSONDecoder(),
    limit: Int = 1 << 20
) async -> (elements: [Element], error: ApiConnectorError?) {
    let parts = AsyncStream { continuation in
        for chunk in chunks { continuation.yield(chunk) }
        continuation.finish()
    }
    var elements: [Element] = []
    do throws(ApiConnectorError) {
        let stream = ResponseBody(chunks: parts)
            .stream(of: type, as: format, decoder: decoder, maximumRecordByteCount: limit)
        for try await element in stream { elements.append(element) }
        return (elements, nil)
    } catch {
        return (elements, error)
    }
}
