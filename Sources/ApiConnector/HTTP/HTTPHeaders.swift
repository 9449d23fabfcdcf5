// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The header fields of a request or a response: in order, repeated where they repeat, names compared without case.
///
/// A field is never sent if its name is not a token, or if its value contains a control character other than a tab
/// (RFC 9110, section 5.5). It is in ``refused``, not among the other fields. A connection or a provider that gets such
/// headers fails with kind `.invalidRequest` and names the field.
///
/// Look-ups are linear in the number of fields.
public struct HTTPHeaders: Sendable, Hashable {
    /// One field as it was written.
    public struct Field: Sendable, Hashable {
        /// The name in its own case.
        public let name: Name
        /// The value without leading and trailing spaces.
        public let value: String
    }

    private var fields: [Field] = []

    /// The fields that must not be sent, in the order in which they were set; empty as it should be.
    public private(set) var refused: [Field] = []

    /// Makes an empty set of fields.
    public init() {}

    init(_ fields: [Field]) {
        for field in fields { append(field.name, field.value) }
    }

    /// The first value of a name; setting it replaces every field of that name, at the place of the first.
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

    /// Adds a field behind all others, beside those of the same name.
    public mutating func append(_ name: Name, _ value: String) {
        let field = Field(name: name, value: Self.trimmed(value))
        if name.isToken, Self.isSendable(field.value) {
            fields.append(field)
        } else {
            refused.append(field)
        }
    }

    /// Adds other fields behind these; where there are none yet, their storage is shared.
    mutating func append(_ others: HTTPHeaders) {
        fields = fields.isEmpty ? others.fields : fields + others.fields
        refused += others.refused
    }

    /// Removes every field of a name.
    public mutating func remove(_ name: Name) {
        replace(name, with: nil)
    }

    /// Lays other fields over these: a name that the others have is theirs alone, all else stays.
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

    /// These fields with others laid over them, as ``merge(_:)`` does.
    public func merging(_ others: HTTPHeaders) -> HTTPHeaders {
        var merged = self
        merged.merge(others)
        return merged
    }

    mutating func removeAll(where isRemoved: (Field) -> Bool) {
        fields.removeAll(where: isRemoved)
    }

    private mutating func replace(_ name: Name, with value: String?) {
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
    /// What a call asks for that decodes JSON, and what one that takes whatever comes; made once for all calls.
    static let acceptingJSON: HTTPHeaders = [.accept: "application/json"]
    static let acceptingAnything: HTTPHeaders = [.accept: "*/*"]

    /// The `User-Agent` field that a transport sends where the request has none.
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
    /// Makes fields of a dictionary, in the order of their names.
    public init(_ fields: [String: String]) {
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) { append(Name(name), value) }
    }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
    /// Makes fields in the order of the literal; a name that stands twice is sent twice.
    public init(dictionaryLiteral elements: (Name, String)...) {
        for (name, value) in elements { append(name, value) }
    }
}

extension UInt8 {
    /// A space or a tab.
    fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}
