// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Splits `Set-Cookie` fields that Foundation joined with commas (M9 in "URLSession on Linux").
enum SetCookie {
    /// The fields, in order.
    ///
    /// A comma separates two fields if a cookie name and `=` follow. The comma in `Expires=Wed, 21 Oct` is part of a
    /// field.
    static func fields(in joined: String) -> [String] {
        var fields: [Substring] = []
        var start = joined.startIndex
        for comma in joined.indices where joined[comma] == "," {
            let next = joined.index(after: comma)
            let name = joined[next...].drop { $0 == " " }.prefix { $0 != "=" && $0 != ";" && $0 != "," }
            let isName = !name.isEmpty && ByteSet.token.containsAll(of: String(name))
            guard isName, name.endIndex < joined.endIndex, joined[name.endIndex] == "=" else { continue }
            fields.append(joined[start..<comma])
            start = next
        }
        fields.append(joined[start...])
        return fields.map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
