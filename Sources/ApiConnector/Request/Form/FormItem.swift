// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A name with texts, which are joined by commas; an item of a query or a form.
struct FormItem: Sendable {
    let name: String

    /// Empty for a name without a value.
    let texts: [FormText]

    init(name: String, texts: [FormText]) {
        self.name = name
        self.texts = texts
    }

    /// An item of a query literal.
    init(name: String, value: (any ApiQueryValue)?) {
        self.name = name
        if let date = value as? Date {
            texts = [.date(date, [FormKey(stringValue: name)])]
        } else {
            texts = value.map { [.text($0.queryText)] } ?? []
        }
    }

    var isDated: Bool { texts.contains(where: \.isDate) }
}

/// A text, or a date that the connection's encoder writes.
enum FormText: Sendable {
    case text(String)
    /// The date and its coding path.
    case date(Date, [any CodingKey])

    var isDate: Bool { if case .date = self { true } else { false } }

    /// The text by which a set's elements are sorted.
    var sortingText: String {
        switch self {
        case .text(let text): text
        case .date(let date, _): String(date.timeIntervalSince1970)
        }
    }

    /// - Parameter encoder: The connection's encoder; nil, or an encoder with Foundation's default style, writes ISO
    ///   8601.
    func written(with encoder: JSONEncoder?) throws(FormRefusal) -> String {
        switch self {
        case .text(let text): return text
        case .date(let date, let path):
            do throws(FormRefusal) {
                guard let encoder, !encoder.writesReferenceDates else {
                    return try FormEncoding.DateStyle.iso8601.text(date)
                }
                return try Self.text(of: date, with: encoder)
            } catch {
                throw error.at(path, of: date)
            }
        }
    }

    private static func text(of date: Date, with encoder: JSONEncoder) throws(FormRefusal) -> String {
        let json: Data
        do {
            json = try encoder.encode([date])
        } catch EncodingError.invalidValue(_, let context) {
            throw FormRefusal(ApiConnectorError.sentence(context.debugDescription))
        } catch {
            throw FormRefusal("the connection's encoder does not encode it")
        }
        switch (try? JSONValue(json: json))?[0] {
        case .string(let text): return text
        case .number(let number): return number.description
        default:
            throw FormRefusal("the connection's encoder writes neither a string nor a number for it")
        }
    }
}

extension [FormItem] {
    /// The items of a query.
    func written(with encoder: JSONEncoder?) throws(FormRefusal) -> [URLQueryItem] {
        var items: [URLQueryItem] = []
        items.reserveCapacity(count)
        for item in self {
            var texts: [String] = []
            for text in item.texts {
                let written = try text.written(with: encoder)
                if item.texts.count > 1, text.isDate, written.contains(",") { throw .comma }
                texts.append(written)
            }
            items.append(URLQueryItem(name: item.name, value: texts.isEmpty ? nil : texts.joined(separator: ",")))
        }
        return items
    }
}

extension JSONEncoder {
    /// Whether it writes dates in Foundation's default style: seconds since 2001, which backends without
    /// Foundation do not read.
    fileprivate var writesReferenceDates: Bool {
        if case .deferredToDate = dateEncodingStrategy { true } else { false }
    }
}

extension FormRefusal {
    static let comma = FormRefusal(
        "an element contains a comma, which would split it in two; use another array style"
    )
}
