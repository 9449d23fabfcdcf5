// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

/// A seed as the text of one environment variable: version, size, and the document or its file.
///
/// Examples are `1 1234 base64:…` and `1 1234 file:…`. The size is the size of the document in bytes.
enum SeedText {
    static let version = 1

    /// The longest text.
    ///
    /// Linux allows 128 KiB for one variable with its name, and Apple's systems allow 1 MiB for all variables.
    static let maximumByteCount = 96 * 1024

    /// The largest file that is read.
    private static let maximumFileByteCount = 64 << 20

    /// Writes a document.
    ///
    /// - Parameters:
    ///   - document: The document.
    ///   - file: The file to write if the text would be too long.
    /// - Returns: The text, and whether the file was written.
    static func text(of document: Data, orIn file: URL) throws -> (text: String, isInFile: Bool) {
        let head = "\(version) \(document.count)"
        let text = "\(head) base64:\(document.base64EncodedString())"
        if text.utf8.count <= maximumByteCount { return (text, false) }
        do {
            try document.write(to: file)
        } catch {
            throw FixtureError(
                seed: "the seed has \(document.count) bytes, too many for an environment variable, and the file "
                    + "\(file.path(percentEncoded: false)) cannot be written: \(error.localizedDescription)"
            )
        }
        return ("\(head) file:\(file.path(percentEncoded: false))", true)
    }

    /// Reads a text that ``text(of:orIn:)`` wrote.
    static func document(in text: String) throws(FixtureError) -> Data {
        let parts = text.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        guard let version = parts.first.flatMap({ Int($0) }) else {
            throw FixtureError(seed: "it is not a seed: \(String(text.prefix(40)).debugDescription)")
        }
        guard version == Self.version else {
            throw FixtureError(
                seed: "it has version \(version), and this program reads version \(Self.version); build the program "
                    + "and its test with the same version of ApiConnectorTesting"
            )
        }
        guard parts.count == 3, let count = Int(parts[1]) else {
            throw FixtureError(seed: "its head is truncated: \(String(text.prefix(40)).debugDescription)")
        }
        let document = try body(parts[2])
        guard document.count == count else {
            throw FixtureError(seed: "it has \(document.count) bytes instead of \(count); it was truncated")
        }
        return document
    }

    private static func body(_ text: String) throws(FixtureError) -> Data {
        if text.hasPrefix("file:") {
            let path = String(text.dropFirst("file:".count))
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            guard attributes?[.type] as? FileAttributeType == .typeRegular,
                attributes?[.size] as? Int ?? .max <= maximumFileByteCount,
                let data = FileManager.default.contents(atPath: path)
            else {
                throw FixtureError(seed: "its file \(path) is missing, or is not a seed's file")
            }
            return data
        }
        guard text.hasPrefix("base64:"), let data = Data(base64Encoded: String(text.dropFirst("base64:".count))) else {
            throw FixtureError(seed: "its document is not base64; it was truncated or changed")
        }
        return data
    }
}
