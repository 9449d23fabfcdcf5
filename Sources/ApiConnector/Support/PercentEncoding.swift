// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Percent-encodes whole texts (RFC 3986, section 2.1); ``ByteWriter`` encodes parts.
enum PercentEncoding {
    /// Encodes every byte outside a set.
    static func encode(_ text: String, keeping kept: ByteSet) -> String {
        ByteWriter.text { $0.write(text, keeping: kept) }
    }

    /// Encodes the characters of a partly encoded text that still need it: escapes stay, and a `%` that does not start
    /// an escape is encoded.
    static func complete(_ text: String, keeping kept: ByteSet) -> String {
        let parts = text.utf8.split(separator: UInt8(ascii: "%"), omittingEmptySubsequences: false)
        return ByteWriter.text { writer in
            for (index, part) in parts.enumerated() {
                let isEscape = part.prefix(2).count(where: ByteSet.hexadecimalDigits.contains) == 2
                if index > 0 { writer.write(isEscape ? "%" : "%25") }
                writer.write(String(part) ?? "", keeping: kept)
            }
        }
    }
}
