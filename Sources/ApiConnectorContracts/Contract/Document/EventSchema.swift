// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

/// The `itemSchema` of server-sent events.
///
/// If it has the member `data`, it describes the fields of an event. Otherwise, it describes the JSON in the data.
struct EventSchema {
    /// Whether the schema describes the fields of an event.
    let hasData: Bool
    private let item: JSONNode
    private let values: TextValues

    init(_ item: JSONNode, _ values: TextValues) {
        self.item = item
        self.values = values
        hasData = values.propertyNames(of: item).contains("data")
    }

    /// The value that the schema describes.
    func value(of event: [String: String]) -> JSONValue {
        guard hasData else { return data(of: event, item) }
        var members: [String: JSONValue] = [:]
        for (name, text) in event {
            let schema = values.property(name, of: item)
            members[name] = name == "data" ? data(of: event, schema) : values.scalar(text, schema)
        }
        return .object(members)
    }

    /// The data as text or as JSON, whichever the schema accepts.
    private func data(of event: [String: String], _ schema: JSONNode?) -> JSONValue {
        let text = event["data"] ?? ""
        let json = JSONValue(parsing: Data(text.utf8))
        // If the schema accepts neither, the first value is used. That is the JSON, because data that is valid JSON is
        // rarely documented as plain text.
        return values.choose((json.map { [$0] } ?? []) + [.string(text)], schema)
    }

    /// The schema of the JSON in an event's `data` member, which is a string; nil if the document has no such schema.
    func content(of event: JSONValue) -> JSONNode? {
        content(of: event, item, depth: 0)
    }

    private func content(of event: JSONValue, _ schema: JSONNode, depth: Int) -> JSONNode? {
        guard depth < 16, let schema = schema.resolved else { return nil }
        if let content = schema["properties"]?["data"]?.resolved?["contentSchema"] { return content }
        let alternatives = ["oneOf", "anyOf"].flatMap { schema[$0]?.elements ?? [] }
        let parts = (schema["allOf"]?.elements ?? []) + alternatives.filter { values.checker.accepts(event, $0) }
        return parts.lazy.compactMap { content(of: event, $0, depth: depth + 1) }.first
    }

    /// The fields of each event that has data, as defined in section 9.2.6 of the WHATWG HTML standard.
    static func events(in body: Data) -> [[String: String]] {
        let text = String(decoding: body, as: UTF8.self).replacing("\r\n", with: "\n").replacing("\r", with: "\n")
        var events: [[String: String]] = []
        var fields: [String: String] = [:]
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.isEmpty {
                if fields["data"] != nil { events.append(fields) }
                fields = [:]
                continue
            }
            let halves = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(halves[0])
            guard ["data", "event", "id", "retry"].contains(name) else { continue }
            let rest = halves.count > 1 ? halves[1] : ""
            let value = String(rest.hasPrefix(" ") ? rest.dropFirst() : rest)
            fields[name] = name == "data" ? fields["data"].map { $0 + "\n" + value } ?? value : value
        }
        return events
    }
}
