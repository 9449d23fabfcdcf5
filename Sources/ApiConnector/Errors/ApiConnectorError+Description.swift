// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiConnectorError: CustomStringConvertible {
    /// One paragraph for the developer: the request, the failure, and what to do about it.
    public var description: String {
        var text = request.map { "\($0) failed" } ?? "The call failed"
        text += " (\(kind)): \(detail)."
        if let sentence = times?.sentence { text += " \(sentence)" }
        if let history = history?.text { text += " \(history)" }
        if let advice { text += " \(advice)" }
        if let body = response?.bodyPrefix, !body.isEmpty {
            text += response?.isBodyTruncated == true ? " The body begins: \(body)" : " The body: \(body)"
        }
        return text
    }
}

extension ApiConnectorError: CustomReflectable {
    /// The properties that `dump` shows.
    ///
    /// Of ``underlying`` and ``backendFailure`` only the types are included, because their values are not redacted.
    public var customMirror: Mirror {
        var children: [(String?, Any)] = [("kind", kind.rawValue), ("stage", stage), ("detail", detail)]
        if let request { children.append(("request", request)) }
        if let response { children.append(("response", response)) }
        if let problem { children.append(("problem", problem)) }
        if let backendFailure { children.append(("backendFailure", type(of: backendFailure))) }
        if let underlying { children.append(("underlying", type(of: underlying))) }
        if let elapsed { children.append(("elapsed", elapsed)) }
        if let times { children.append(("times", times)) }
        if !earlierAttempts.isEmpty { children.append(("earlierAttempts", earlierAttempts)) }
        return Mirror(self, children: children.map { (label: $0, value: $1) }, displayStyle: .struct)
    }
}
