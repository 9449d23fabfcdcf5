// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// Compares a body with the media types and schemas of a request body or a response.
struct BodyCheck {
    let part: ContractViolation.Part
    let values: TextValues

    /// The violations of a body.
    ///
    /// The body must not be empty.
    func violations(
        of body: Data,
        _ type: MediaType?,
        in node: JSONNode,
        parts: [RecordedRequest.Part] = []
    ) -> [ContractViolation] {
        let content = node["content"]?.members ?? []
        guard !content.isEmpty else {
            return [ContractViolation(part, node.pointer, "there is a body, but the document defines none")]
        }
        guard let type else { return [ContractViolation(part, node.pointer, "it has no media type")] }
        guard let media = Self.media(type, in: content) else {
            let list = content.map(\.key).joined(separator: ", ")
            let sentence = "the media type is \(type), but the document has \(list)"
            return [ContractViolation(part, node.pointer + "/content", sentence)]
        }
        return check(body, type, media, parts)
    }

    /// The document's entry for a media type.
    ///
    /// An entry for the type itself takes precedence over a range such as `text/*`.
    static func media(_ type: MediaType, in content: [(key: String, node: JSONNode)]) -> JSONNode? {
        let fitting = content.filter { entry in
            guard let range = MediaType(entry.key) else { return false }
            // Parameters such as a charset do not have to match the document.
            return MediaType(type.type, type.subtype).matches(MediaType(range.type, range.subtype))
        }
        return (fitting.first { !$0.key.contains("*") } ?? fitting.max { $0.key.count < $1.key.count })?.node.resolved
    }

    private func check(
        _ body: Data,
        _ type: MediaType,
        _ media: JSONNode,
        _ parts: [RecordedRequest.Part]
    ) -> [ContractViolation] {
        if type.isDocumentedJSON { return checkJSON(body, media["schema"], media) }
        if let item = media["itemSchema"], let records = Self.records(of: body, type) {
            return records.flatMap { checkJSON($0, item, media) }
        }
        if let item = media["itemSchema"], type.isEventStream { return checkEvents(body, item) }
        guard let schema = media["schema"] else { return [] }
        if type.matches(.form) {
            let items = ParameterReader.Item.all(in: String(decoding: body, as: UTF8.self), isForm: true)
            let parameter = DocumentedParameter(media, name: "", in: .query)
            return check(ParameterReader(parameter: parameter, values: values).object(items), schema)
        }
        if type.matches(MediaType("multipart", "form-data")) {
            let found = values.checker.violations(of: object(of: parts, schema), against: schema)
            return found.filter { !isUnreadable($0, media) }.map { ContractViolation(part.rawValue, $0) }
                + quotedTexts(in: parts, schema, media)
        }
        // A text is checked as one scalar value. If the schema describes an object or an array, the text has a format
        // that this checker cannot parse, so the text is not checked.
        guard type.type == "text", !type.isEventStream, let text = String(validating: body, as: UTF8.self)
        else { return [] }
        guard !values.describes("object", "properties", schema), !values.describes("array", "items", schema) else {
            return []
        }
        return check(values.scalar(text, schema), schema)
    }

    private func checkJSON(_ body: Data, _ schema: JSONNode?, _ media: JSONNode) -> [ContractViolation] {
        guard let value = JSONValue(parsing: body) else {
            return [ContractViolation(part, media.pointer, "it is not JSON")]
        }
        return schema.map { check(value, $0) } ?? []
    }

    /// The violations of each server-sent event that has data.
    private func checkEvents(_ body: Data, _ item: JSONNode) -> [ContractViolation] {
        let schema = EventSchema(item, values)
        return EventSchema.events(in: body).flatMap { event -> [ContractViolation] in
            let value = schema.value(of: event)
            let found = check(value, item)
            guard found.isEmpty, schema.hasData, let content = schema.content(of: value) else { return found }
            guard let data = JSONValue(parsing: Data((event["data"] ?? "").utf8)) else {
                return [ContractViolation(part, content.pointer, "the data of an event is not JSON")]
            }
            return check(data, content)
        }
    }

    private func check(_ value: JSONValue, _ schema: JSONNode) -> [ContractViolation] {
        values.checker.violations(of: value, against: schema).map { ContractViolation(part.rawValue, $0) }
    }

    /// The object that a form describes: one member per name, and one element of an array per part.
    private func object(of parts: [RecordedRequest.Part], _ schema: JSONNode) -> JSONValue {
        var members: [String: JSONValue] = [:]
        for name in Set(parts.map(\.name)) {
            let property = values.property(name, of: schema)
            let isList = values.describes("array", "items", property)
            let items = isList ? property.flatMap { values.part("items", of: $0) } : property
            let found = parts.filter { $0.name == name }.map { value(of: $0, property, items) }
            // The schema can also have alternatives that are not arrays.
            let isLone = found.count == 1 && found[0].array == nil
            members[name] = isList ? values.choose([.array(found)] + (isLone ? found : []), property) : found[0]
        }
        return .object(members)
    }

    private func value(of part: RecordedRequest.Part, _ property: JSONNode?, _ items: JSONNode?) -> JSONValue {
        let isFile = values.describesFile(property) || values.describesFile(items)
        // For a file, only its presence is checked.
        if part.fileName != nil, isFile { return .string("") }
        let isJSON = part.mediaType?.isJSON == true || values.describes("object", "properties", items)
        if isJSON, let value = JSONValue(parsing: part.body) { return value }
        return part.fileName != nil || isFile ? .string("") : values.scalar(part.text, items)
    }

    /// Whether a violation is in a part of another media type than JSON and texts, such as XML.
    ///
    /// The checker cannot read such a part.
    private func isUnreadable(_ violation: SchemaViolation, _ media: JSONNode) -> Bool {
        (media["encoding"]?.members ?? []).contains { name, encoding in
            guard let type = encoding.text("contentType"), !type.contains("json"), !type.hasPrefix("text/") else {
                return false
            }
            let place = [name].pointer
            return violation.value == place || violation.value.hasPrefix(place + "/")
        }
    }

    /// The violations of parts that are a string in JSON, although the document describes a text or a file.
    private func quotedTexts(
        in parts: [RecordedRequest.Part],
        _ schema: JSONNode,
        _ media: JSONNode
    ) -> [ContractViolation] {
        parts.compactMap { part in
            guard part.mediaType?.isJSON == true, part.fileName == nil, JSONValue(parsing: part.body)?.string != nil,
                media["encoding"]?[part.name]?.text("contentType")?.contains("json") != true,
                let property = values.property(part.name, of: schema)
            else { return nil }
            let items = values.part("items", of: property)
            guard [property, items].contains(where: { values.describes("string", "pattern", $0) }) else { return nil }
            let sentence = "the part \"\(part.name)\" is a string in JSON, but the document describes a text or a file"
            return ContractViolation(self.part, property.pointer, sentence)
        }
    }

    /// The records of a body of JSON lines or of a JSON text sequence; nil for another media type.
    private static func records(of body: Data, _ type: MediaType) -> [Data]? {
        let separators: Set<UInt8> =
            switch type.subtype {
            case "jsonl", "x-ndjson", "ndjson": [0x0A]
            case "json-seq": [0x1E]
            default: []
            }
        guard !separators.isEmpty else { return nil }
        return body.split { separators.contains($0) }.filter { !$0.allSatisfy { $0 <= 0x20 } }.map { Data($0) }
    }
}
