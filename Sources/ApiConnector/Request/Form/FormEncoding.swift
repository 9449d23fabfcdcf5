// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// How an `Encodable` value is written as query items or as a form.
///
/// - Each part that is not an object or an array, such as a string or a number, becomes one item. Only
///   ``ArrayStyle/comma`` joins the elements of an array into one item.
/// - The items are in the order in which the value encodes its keys.
/// - Dictionaries are sorted by their keys as text, and sets by their elements as text, so that equal values give equal
///   texts.
/// - Nil values, empty arrays and empty objects are left out.
/// - Numbers are written as in JSON. URLs and UUIDs are written as text.
///
/// Define a name for the conventions of a server:
///
/// ```swift
/// extension FormEncoding {
///     static let rails = FormEncoding(arrays: .brackets)
/// }
///
/// RequestBody.form(filter, as: .rails)
/// ```
///
/// These values are refused with an error that names the type and the coding path:
///
/// - a value whose top level is not an object, because its parts would have no names
/// - NaN and infinity
/// - a dictionary whose keys cannot be written as text
/// - more than 100 levels
public struct FormEncoding: Sendable {
    /// How arrays are written; ``ArrayStyle/repeated`` by default.
    public var arrays: ArrayStyle

    /// How the keys of an object within an object are written; ``KeyStyle/brackets`` by default.
    public var nestedKeys: KeyStyle

    /// How dates are written; ``DateStyle/asInJSON`` by default.
    public var dates: DateStyle

    /// How Booleans are written; ``BooleanStyle/trueFalse`` by default.
    public var booleans: BooleanStyle

    /// How `Data` is written; ``DataStyle/base64`` by default.
    public var data: DataStyle

    /// Makes an encoding; arguments that are left out have their defaults.
    public init(
        arrays: ArrayStyle = .repeated,
        nestedKeys: KeyStyle = .brackets,
        dates: DateStyle = .asInJSON,
        booleans: BooleanStyle = .trueFalse,
        data: DataStyle = .base64
    ) {
        self.arrays = arrays
        self.nestedKeys = nestedKeys
        self.dates = dates
        self.booleans = booleans
        self.data = data
    }

    /// The defaults.
    public static let standard = FormEncoding()
}

extension FormEncoding {
    /// How an array is written.
    ///
    /// In every style, an array that contains arrays or objects is written with indices, as in jQuery, because nothing
    /// else separates its elements. The indices count the written elements, so nil leaves no gap.
    public struct ArrayStyle: Sendable, Hashable {
        enum Kind { case repeated, brackets, indexed, comma }

        let kind: Kind

        /// `a=1&a=2`: repeats the name for each element.
        public static let repeated = ArrayStyle(kind: .repeated)

        /// `a[]=1&a[]=2`, the format of PHP and Rails.
        public static let brackets = ArrayStyle(kind: .brackets)

        /// `a[0]=1&a[1]=2`, the format of ASP.NET and Spring.
        public static let indexed = ArrayStyle(kind: .indexed)

        /// `a=1,2`; an element that contains a comma is refused, because a server would read two elements.
        public static let comma = ArrayStyle(kind: .comma)
    }

    /// How the key of a nested object is joined to the name of the outer object.
    ///
    /// Keys are written unchanged, even if they contain `[`, `]` or `.`, such as JSON:API's `page[size]`.
    public struct KeyStyle: Sendable, Hashable {
        let before: String
        let after: String

        /// `a[b]=1`.
        public static let brackets = KeyStyle(before: "[", after: "]")

        /// `a.b=1`; indices keep their brackets, `a[0].b=1`.
        public static let dots = KeyStyle(before: ".", after: "")
    }

    /// How a date is written.
    public struct DateStyle: Sendable {
        let text: @Sendable (Date) throws(FormRefusal) -> String
        var isOfConnection = false

        /// Dates as the connection's encoder writes them in JSON, so that a backend gets one format.
        ///
        /// Without a connection, and for an encoder with Foundation's default style, it is ``iso8601``.
        public static let asInJSON = DateStyle(text: iso8601.text, isOfConnection: true)

        /// `2016-11-21T00:00:00Z`: RFC 3339 in UTC without fractions of a second.
        ///
        /// Dates outside the years 0 to 9999, which RFC 3339 cannot represent, are refused.
        public static let iso8601 = DateStyle { date throws(FormRefusal) in
            guard let text = InternetDate.text(date) else {
                throw FormRefusal("RFC 3339 has dates of the years 0 to 9999 only")
            }
            return text
        }

        /// `1479686400`, or `1479686400.5`: seconds since 1970.
        public static let secondsSince1970 = DateStyle { date throws(FormRefusal) in
            try date.timeIntervalSince1970.formText()
        }

        /// `1479686400500`: milliseconds since 1970, rounded to an integer.
        public static let millisecondsSince1970 = DateStyle { date throws(FormRefusal) in
            try (date.timeIntervalSince1970 * 1_000).rounded().formText()
        }

        /// The text that a closure returns for the date.
        public static func formatted(_ format: @escaping @Sendable (Date) -> String) -> DateStyle {
            DateStyle { date throws(FormRefusal) in format(date) }
        }
    }

    /// How a Boolean is written.
    public struct BooleanStyle: Sendable, Hashable {
        let yes: String
        let no: String

        /// `true` and `false`.
        public static let trueFalse = BooleanStyle(yes: "true", no: "false")

        /// `1` and `0`.
        public static let oneZero = BooleanStyle(yes: "1", no: "0")
    }

    /// How `Data` is written.
    public struct DataStyle: Sendable {
        let text: @Sendable (Data) -> String

        /// Base64 with padding (RFC 4648, section 4).
        public static let base64 = DataStyle { $0.base64EncodedString() }

        /// Base64 with `-` and `_`, without padding (RFC 4648, section 5), which needs no percent-encoding.
        public static let base64URL = DataStyle { data in
            String(data.base64EncodedString().prefix { $0 != "=" })
                .replacing("+", with: "-")
                .replacing("/", with: "_")
        }

        /// Two lower-case hexadecimal digits per byte.
        public static let hexadecimal = DataStyle { data in
            let digits = Array("0123456789abcdef".utf8)
            return String(decoding: data.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
        }
    }
}

extension Array where Element == URLQueryItem {
    /// Encodes a value's parts as query items, in the style of a ``FormEncoding``.
    ///
    /// In a router, use ``ApiQuery/encoding(_:as:)``, which needs no `try`.
    ///
    /// - Throws: ``ApiConnectorError`` of kind `.encodingFailed`, with the type and the coding path.
    /// - Complexity: O(*n*) in the size of the value; O(*n* log *n*) in the size of a dictionary or a set.
    public init(encoding value: some Encodable, as encoding: FormEncoding = .standard) throws(ApiConnectorError) {
        self = try ApiConnectorError.inQuery(of: type(of: value)) {
            try FormEncoder.items(of: value, as: encoding).written(with: nil)
        }
    }
}

extension ApiConnectorError {
    /// Runs a closure that encodes a query's value; an error names the value's type.
    ///
    /// An error of this type from the value's own `encode(to:)` stays as it is.
    static func inQuery<Result>(of type: Any.Type, _ make: () throws -> Result) throws(ApiConnectorError) -> Result {
        do {
            return try make()
        } catch let error as ApiConnectorError {
            throw error
        } catch {
            throw ApiConnectorError(
                .encodingFailed,
                at: .url,
                "the query, a value of type \(type), does not encode: \(CodingText.describe(error))",
                underlying: error
            )
        }
    }
}

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
