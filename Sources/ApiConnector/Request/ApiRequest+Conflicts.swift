// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiRequest {
    /// Describes the header field that contradicts the body or the URL; nil if there is none.
    ///
    /// Without this check, a transport would send another value than the one that was set, or a body that the server
    /// cannot read.
    ///
    /// - Parameter routeHost: The route's `Host` field. The environment, the connection and the call can set another
    ///   host name, to call a server by its address. A route cannot.
    func fieldConflict(routeHost: String?) -> String? {
        for field in headers {
            let conflict =
                switch field.name {
                case .contentType: typeConflict(field.value)
                case .contentLength: lengthConflict(field.value)
                case "Transfer-Encoding": "set by the transport, which frames the body; leave the field out"
                case .host where field.value == routeHost: hostConflict(field.value)
                default: String?.none
                }
            if let conflict { return "its header field \(field.name) is \(conflict)" }
        }
        return nil
    }

    private func typeConflict(_ text: String) -> String? {
        guard let boundary = body.mediaType?[parameter: "boundary"],
            MediaType(text)?[parameter: "boundary"] != boundary
        else { return nil }
        return "\"\(text)\", without the boundary between the parts of its body; "
            + "leave the field out, the body has its own type"
    }

    private func lengthConflict(_ text: String) -> String? {
        guard let byteCount = body.byteCount else {
            return "\"\(text)\", but the length of its body is unknown; pass the length as the body's byteCount"
        }
        return text == "\(byteCount)" ? nil : "\"\(text)\", and its body has \(byteCount) bytes; leave the field out"
    }

    private func hostConflict(_ text: String) -> String? {
        let host = url.host(percentEncoded: true) ?? ""
        let authority = url.port.map { "\(host):\($0)" } ?? host
        guard ![host, authority].contains(where: { $0.lowercased() == text.lowercased() }) else { return nil }
        return "\"\(text)\", but its URL has the host \(authority); set the host in the environment"
    }
}
