// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation

/// Finds secrets with known values in a text, however they are encoded.
///
/// It finds each secret in these forms:
///
/// - unchanged, or with `+` for a space
/// - percent-encoded, JSON-escaped or with XML entities, to any depth and in any combination
/// - in base64, at any offset and in both alphabets
///
/// The search takes linear time per secret.
package struct SecretSearch: Sendable {
    /// One secret in one form.
    private struct Pattern {
        let bytes: [UInt8]
        let secret: Int

        func isFound(in text: UnsafeBufferPointer<UInt8>, at start: Int) -> Bool {
            guard start + bytes.count <= text.count else { return false }
            var count = 0
            while count < bytes.count, text[start + count] == bytes[count] { count += 1 }
            return count == bytes.count
        }
    }

    /// The patterns by their first byte.
    private var patterns: [[Pattern]] = Array(repeating: [], count: 256)
    /// For each byte, whether a pattern begins with it.
    private let isFirst: [Bool]

    /// Makes a search for secrets; an empty secret is never found.
    package init(_ secrets: [[UInt8]]) {
        for (index, secret) in secrets.enumerated() {
            var forms: Set<[UInt8]> = [secret]
            forms.insert(secret.map { $0 == UInt8(ascii: " ") ? UInt8(ascii: "+") : $0 })
            forms.formUnion(Base64Form.all(of: secret))
            for form in forms {
                guard let first = form.first else { continue }
                patterns[Int(first)].append(Pattern(bytes: form, secret: index))
            }
        }
        isFirst = patterns.map { !$0.isEmpty }
    }

    /// The places of secrets in a text, in order, with the indices of the secrets.
    ///
    /// Overlapping places are combined, with the index of the first secret.
    package func findings(in bytes: [UInt8]) -> [(range: Range<Int>, secret: Int)] {
        guard isFirst.contains(true) else { return [] }
        var found: [(range: Range<Int>, secret: Int)] = []
        for reading in TextReading.all(of: bytes) { search(reading, &found) }
        return found.sorted { ($0.range.lowerBound, -$0.range.count) < ($1.range.lowerBound, -$1.range.count) }
            .unitingOverlaps(of: \.range)
    }

    private func search(_ reading: TextReading, _ found: inout [(range: Range<Int>, secret: Int)]) {
        reading.bytes.withUnsafeBufferPointer { bytes in
            isFirst.withUnsafeBufferPointer { isFirst in
                var start = 0
                while start < bytes.count {
                    if isFirst[Int(bytes[start])] { search(bytes, at: start, reading.starts, &found) }
                    start += 1
                }
            }
        }
    }

    private func search(
        _ bytes: UnsafeBufferPointer<UInt8>,
        at start: Int,
        _ starts: [Int],
        _ found: inout [(range: Range<Int>, secret: Int)]
    ) {
        for pattern in patterns[Int(bytes[start])] {
            let end = start + pattern.bytes.count
            guard pattern.isFound(in: bytes, at: start) else { continue }
            found.append((starts[start]..<starts[end], pattern.secret))
        }
    }
}

/// The base64 forms of a secret that is part of a longer encoded text.
private enum Base64Form {
    /// A shorter secret would be found by chance.
    private static let minimumByteCount = 6

    /// The characters that depend only on the secret, for three offsets and both alphabets.
    static func all(of secret: [UInt8]) -> Set<[UInt8]> {
        guard secret.count >= minimumByteCount else { return [] }
        var forms: Set<[UInt8]> = []
        for offset in 0..<3 {
            let padded = Data(repeating: 0, count: offset) + secret
            let text = Array(padded.base64EncodedString().utf8)
            let core = Array(text[(offset * 8 + 5) / 6..<padded.count * 8 / 6])
            forms.insert(core)
            forms.insert(
                core.map {
                    $0 == UInt8(ascii: "+") ? UInt8(ascii: "-") : $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0
                }
            )
        }
        return forms
    }
}

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

extension Sequence {
    /// The elements with overlapping elements combined: the earlier element is extended to the end of the later one.
    ///
    /// The elements must already be sorted by their start.
    package func unitingOverlaps(of range: WritableKeyPath<Element, Range<Int>>) -> [Element] {
        var united: [Element] = []
        for element in self {
            if let last = united.last?[keyPath: range], element[keyPath: range].lowerBound < last.upperBound {
                let end = Swift.max(last.upperBound, element[keyPath: range].upperBound)
                united[united.count - 1][keyPath: range] = last.lowerBound..<end
            } else {
                united.append(element)
            }
        }
        return united
    }
}
