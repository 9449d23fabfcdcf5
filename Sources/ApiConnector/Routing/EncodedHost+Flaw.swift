// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension EncodedHost {
    /// Why nothing may be sent to an environment's host; nil for a plain host name.
    var flaw: String? {
        guard !isPlain else { return nil }
        guard !text.isEmpty else { return "the environment's host is empty" }
        // The text before an at sign may be a user name and a password, so it is not shown.
        let atSign = text.range(of: "%40", options: .backwards)
        let shown = atSign.map { Redactor.replacement + text[$0.lowerBound...] } ?? text
        return "the environment's host \"\(shown)\" is not a plain host name; set scheme, port and path in their own "
            + "properties"
    }
}
