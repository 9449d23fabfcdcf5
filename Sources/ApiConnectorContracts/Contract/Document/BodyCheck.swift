// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

/// Compares a body with the media types and schemas of a request body or a response.
struct BodyCheck {
    let part: ContractViolation.Part
    let values: TextValues
    /// Whether the body has a content coding such as gzip, so that only its media type is checked.
    let isCompressed: Bool

    /// The violations of a body.
    ///
    /// An empty body must have a media type of which ``MediaType/canBeEmpty`` is true.
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
        return isCompressed ? [] : check(body, type, media, parts)
    }

    /// The document's entry for a media type.
    ///
    /// An entry for the type itself takes precedence over a range such as `text/*`. Parameters such as a charset do not
    /// have to match the document, but an entry with the same parameters takes precedence.
    private static func media(_ type: MediaType, in content: [(key: String, node: JSONNode)]) -> JSONNode? {
        func rank(_ entry: (key: String, node: JSONNode)) -> (Int, Int, Int) {
            guard let range = MediaType(entry.key) else { return (0, 0, 0) }
            let parameters = type.matches(range) ? range.parameters.count + 1 : 0
            return (entry.key.contains("*") ? 0 : 1, parameters, entry.key.count)
        }
        let fitting = content.filter { entry in MediaType(entry.key).map { type.isKind(of: $0) } ?? false }
        return fitting.max { rank($0) < rank($1) }?.node.resolved
    }

    private func check(
        _ body: Data,
        _ type: MediaType,
        _ media: JSONNode,
        _ parts: [RecordedRequest.Part]
    ) -> [ContractViolation] {
        if type.isDocumentedJSON { return checkJSON(body, media["schema"], media) }
        if let records = Self.records(of: body, type) { return check(records, media) }
        if let item = media["itemSchema"], type.isEventStream { return checkEvents(body, item) }
        guard let schema = media["schema"] else { return [] }
        if type.matches(.form) {
            let items = ParameterReader.Item.all(in: String(decoding: body, as: UTF8.self), isForm: true)
            return checkForm(items, schema, media)
        }
        if type.matches(MediaType("multipart", "form-data")) {
            let found = values.checker.violations(of: object(of: parts, schema), against: schema)
            return found.filter { !isUnreadable($0, media) }.map { ContractViolation(part.rawValue, $0) }
                + quotedTexts(in: parts, schema, media) + foreignTypes(in: parts, media)
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

    /// The violations of a stream's records.
    ///
    /// `itemSchema`, which is new in OpenAPI 3.2, describes one record. `schema` describes the list of all records. In
    /// older documents, it often describes one record.
    private func check(_ records: [Data], _ media: JSONNode) -> [ContractViolation] {
        guard let schema = media["itemSchema"] ?? media["schema"] else { return [] }
        let found = records.flatMap { checkJSON($0, schema, media) }
        if found.isEmpty || media["itemSchema"] != nil { return found }
        let list = JSONValue.array(records.compactMap { JSONValue(parsing: $0) })
        return list.array?.count == records.count && values.checker.accepts(list, schema) ? [] : found
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

    /// The violations of a form of type `application/x-www-form-urlencoded`.
    private func checkForm(
        _ items: [ParameterReader.Item],
        _ schema: JSONNode,
        _ media: JSONNode
    ) -> [ContractViolation] {
        var rest = items
        var members: [String: JSONValue] = [:]
        var found: [ContractViolation] = []
        for (name, encoding) in media["encoding"]?.members ?? [] {
            let field = DocumentedParameter(encoding, name: name, in: .query, schema: values.property(name, of: schema))
            // By default, the name of a list repeats. This is also how the reader below reads the other fields.
            if field.style == .form, field.explodes { continue }
            if let flaw = field.flaw(ofItemCount: items.filter { $0.name == name }.count) {
                found.append(ContractViolation("the field \"\(name)\" of \(part.rawValue)", encoding.pointer, flaw))
            }
            members[name] = ParameterReader(parameter: field, values: values).value(takingFrom: &rest)
        }
        let form = DocumentedParameter(media, name: "", in: .query)
        let others = ParameterReader(parameter: form, values: values).object(rest).object ?? [:]
        return found + check(.object(members.merging(others) { styled, _ in styled }), schema)
    }

    /// The object that a multipart form describes: one member per name, and one element of an array per part.
    private func object(of parts: [RecordedRequest.Part], _ schema: JSONNode) -> JSONValue {
        var members: [String: JSONValue] = [:]
        for name in Set(parts.map(\.name)) {
            let property = values.property(name, of: schema)
            let isList = values.describes("array", "items", property)
            let items = isList ? property.flatMap { values.part("items", of: $0) } : property
            let found = parts.filter { $0.name == name }.map { value(of: $0, property, items) }
            // The schema can also have alternatives that are not arrays.
            let isLone = found.count == 1 && (!isList || found[0].array == nil)
            let list = JSONValue.array(found)
            members[name] = isList ? values.choose([list] + (isLone ? found : []), property) : isLone ? found[0] : list
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

    /// The violations of parts with another media type than `contentType` allows.
    private func foreignTypes(in parts: [RecordedRequest.Part], _ media: JSONNode) -> [ContractViolation] {
        parts.compactMap { part in
            guard let encoding = media["encoding"]?[part.name], let text = encoding.text("contentType") else {
                return nil
            }
            // A part without a type is plain text (RFC 7578, section 4.4).
            let type = part.mediaType ?? MediaType("text", "plain")
            if MediaType.ranges(in: text).contains(where: type.isKind) { return nil }
            let sentence = "the media type of the part \"\(part.name)\" is \(type), but the document has \(text)"
            return ContractViolation(self.part, encoding.pointer + "/contentType", sentence)
        }
    }

    /// The records of a body of JSON lines or of a JSON text sequence; nil for another media type.
    private static func records(of body: Data, _ type: MediaType) -> [Data]? {
        guard let mark = type.recordMark else { return nil }
        return body.split { $0 == mark }.filter { !$0.allSatisfy { $0 <= 0x20 } }.map { Data($0) }
    }
}

extension MediaType {
    /// The byte between the records of JSON lines, or before each record of a JSON text sequence (RFC 7464); nil for
    /// another media type.
    var recordMark: UInt8? {
        switch subtype {
        case "jsonl", "x-ndjson", "ndjson", "x-jsonlines": 0x0A
        case "json-seq", "geo+json-seq": 0x1E
        default: nil
        }
    }

    /// Whether this type is within a range, without regard to parameters.
    fileprivate func isKind(of range: MediaType) -> Bool {
        MediaType(type, subtype).matches(MediaType(range.type, range.subtype))
    }
}
