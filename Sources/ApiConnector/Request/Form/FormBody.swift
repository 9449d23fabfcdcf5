// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A value that is encoded as a form when the request is built.
struct FormBody: Sendable {
    let value: any Encodable & Sendable
    let encoding: FormEncoding

    /// The encoded form.
    ///
    /// - Parameter encoder: Writes the dates; with nil, dates are written in ISO 8601.
    func data(with encoder: JSONEncoder?) throws(ApiConnectorError) -> Data {
        do {
            return Self.serialized(try FormEncoder.items(of: value, as: encoding).written(with: encoder))
        } catch {
            throw ApiConnectorError(
                .encodingFailed,
                at: .request,
                "the body, a value of type \(type(of: value)), does not encode as a form: \(CodingText.describe(error))",
                underlying: error
            )
        }
    }

    /// The serializer of the WHATWG URL standard, section 5.2.
    ///
    /// A space becomes `+`. ASCII letters, digits and `*-._` stay, and everything else is percent-encoded, including
    /// `~`.
    static func serialized(_ items: [URLQueryItem]) -> Data {
        var bytes: [UInt8] = []
        for item in items {
            if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
            append(item.name, to: &bytes)
            bytes.append(UInt8(ascii: "="))
            append(item.value ?? "", to: &bytes)
        }
        return Data(bytes)
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        for byte in text.utf8 {
            if ByteSet.formText.contains(byte) {
                bytes.append(byte)
            } else if byte == UInt8(ascii: " ") {
                bytes.append(UInt8(ascii: "+"))
            } else {
                bytes.append(UInt8(ascii: "%"))
                bytes.append(ByteWriter.hexadecimalDigit(byte >> 4))
                bytes.append(ByteWriter.hexadecimalDigit(byte & 15))
            }
        }
    }
}
