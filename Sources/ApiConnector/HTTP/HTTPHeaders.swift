// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The ordered header fields of a request or a response.
///
/// Names can repeat and are compared without regard to case.
///
/// A field is never sent if its name is not a token, or if its value contains a control character other than a tab (RFC
/// 9110, section 5.5). Such a field is in ``refused``, not among the other fields. A connection or a provider then
/// fails with kind `.invalidRequest` and names the field.
///
/// Look-ups are linear in the number of fields.
public struct HTTPHeaders: Sendable, Hashable {
    /// A header field as it was written.
    public struct Field: Sendable, Hashable {
        /// The name in its original case.
        public let name: Name
        /// The value without leading and trailing spaces.
        public let value: String
    }

    private var fields: [Field] = []

    /// The invalid fields, which are never sent, in the order in which they were set; normally empty.
    public private(set) var refused: [Field] = []

    /// Makes an empty set of fields.
    public init() {}

    init(_ fields: [Field]) {
        for field in fields { append(field.name, field.value) }
    }

    /// The first value of a name.
    ///
    /// Setting it replaces all fields of that name, at the position of the first one.
    public subscript(name: Name) -> String? {
        get {
            for field in fields where field.name == name { return field.value }
            return nil
        }
        set { replace(name, with: newValue) }
    }

    /// All values of a name, in order.
    public func values(_ name: Name) -> [String] {
        fields.filter { $0.name == name }.map(\.value)
    }

    /// Whether there is a field of that name.
    public func contains(_ name: Name) -> Bool {
        fields.contains { $0.name == name }
    }

    /// Appends a field after all others; existing fields of the same name stay.
    public mutating func append(_ name: Name, _ value: String) {
        let field = Field(name: name, value: Self.trimmed(value))
        if name.isToken, Self.isSendable(field.value) {
            fields.append(field)
        } else {
            refused.append(field)
        }
    }

    /// Appends all fields of another collection.
    ///
    /// If this collection is empty, it does not copy the fields: both collections then share one array.
    mutating func append(_ others: HTTPHeaders) {
        fields = fields.isEmpty ? others.fields : fields + others.fields
        refused += others.refused
    }

    /// Removes every field of a name.
    public mutating func remove(_ name: Name) {
        replace(name, with: nil)
    }

    /// Adds other fields and removes this collection's fields with the same names.
    public mutating func merge(_ others: HTTPHeaders) {
        guard !others.isEmpty || !others.refused.isEmpty else { return }
        if fields.isEmpty, refused.isEmpty {
            self = others
            return
        }
        fields.removeAll { others.contains($0.name) }
        refused.removeAll { others.contains($0.name) }
        fields += others.fields
        refused += others.refused
    }

    /// Returns these fields merged with others, which replace fields of the same name; see ``merge(_:)``.
    public func merging(_ others: HTTPHeaders) -> HTTPHeaders {
        var merged = self
        merged.merge(others)
        return merged
    }

    mutating func removeAll(where isRemoved: (Field) -> Bool) {
        fields.removeAll(where: isRemoved)
    }

    private mutating func replace(_ name: Name, with value: String?) {
        guard contains(name) || !refused.isEmpty else {
            // A new name is the most frequent case.
            if let value { append(name, value) }
            return
        }
        let place = fields.firstIndex { $0.name == name }
        fields.removeAll { $0.name == name }
        refused.removeAll { $0.name == name }
        guard let value else { return }
        append(name, value)
        if let place, let new = fields.last, new.name == name {
            fields.removeLast()
            fields.insert(new, at: place)
        }
    }

    private static func trimmed(_ value: String) -> String {
        guard let first = value.utf8.first, let last = value.utf8.last else { return value }
        guard first.isBlank || last.isBlank else { return value }
        return value.trimmingCharacters(in: CharacterSet(charactersIn: " \t"))
    }

    private static func isSendable(_ value: String) -> Bool {
        var isSendable = true
        value.withUTF8Bytes { bytes in
            for byte in bytes where byte < 0x20 && byte != UInt8(ascii: "\t") || byte == 0x7F {
                isSendable = false
            }
        }
        return isSendable
    }
}

extension HTTPHeaders {
    /// The `User-Agent` field that a transport sends if the request has none.
    static let standardUserAgent = "ApiConnector/0.1"
}

extension HTTPHeaders: RandomAccessCollection {
    /// The first field's position, 0.
    public var startIndex: Int { fields.startIndex }
    /// The number of fields.
    public var endIndex: Int { fields.endIndex }
    /// The field at a position.
    public subscript(position: Int) -> Field { fields[position] }
}

extension HTTPHeaders {
    /// Makes fields from a dictionary, sorted by name.
    public init(_ fields: [String: String]) {
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) { append(Name(name), value) }
    }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
    /// Makes fields in the order of the literal; repeated names are kept.
    ///
    /// A field with a nil value is left out, as in a literal of ``ApiQuery``. A field with an empty value is sent.
    public init(dictionaryLiteral elements: (Name, String?)...) {
        for case (let name, let value?) in elements { append(name, value) }
    }
}

extension UInt8 {
    /// A space or a tab.
    fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}
