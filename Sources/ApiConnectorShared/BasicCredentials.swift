// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation

/// The credentials of the `Basic` scheme (RFC 7617, section 2).
package enum BasicCredentials {
    /// The password in the base64 text of `user:password`.
    ///
    /// If the password is empty, as some services require for their keys, the secret is the user name. The result is
    /// nil if the text is not such a pair.
    package static func secret(in base64: String) -> String? {
        guard let pair = Data(base64Encoded: base64).flatMap({ String(bytes: $0, encoding: .utf8) }),
            let colon = pair.firstIndex(of: ":")
        else { return nil }
        let password = pair[pair.index(after: colon)...]
        let secret = password.isEmpty ? pair[..<colon] : password
        return secret.isEmpty ? nil : String(secret)
    }
}
