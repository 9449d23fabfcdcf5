// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The schema of HAR 1.2, from the text of the specification, and as much of JSON Schema as it uses.
///
/// A `postData` has `text` or `params`, as the specification says: "text and params fields are mutually exclusive".
/// Chromium and Firefox write both for a form, and some libraries' schemas allow both. The library writes `text` alone,
/// because it is exact and readers of both prefer it.
enum HARSchema {
    /// The errors in a file with their places; empty for a valid file.
    static func flaws(of file: Data) throws -> [String] {
        let schema = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
        let value = try JSONDecoder().decode(JSONValue.self, from: file)
        return flaws(of: value, schema, schema["$defs"], "")
    }

    private static func flaws(
        of value: JSONValue,
        _ schema: JSONValue,
        _ definitions: JSONValue,
        _ place: String
    ) -> [String] {
        if case .string(let name) = schema["$ref"] { return flaws(of: value, definitions[name], definitions, place) }
        if case .string(let type) = schema["type"], !fits(value, type) { return ["\(place) is no \(type)"] }
        var flaws: [String] = []
        if case .number(let minimum) = schema["minimum"], case .number(let number) = value,
            (Double(number.description) ?? .nan) < (Double(minimum.description) ?? .nan)
        {
            flaws.append("\(place) is less than \(minimum)")
        }
        if schema["format"] == "date-time", case .string(let text) = value,
            (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))) == nil
        {
            flaws.append("\(place) is no date")
        }
        if schema["const"] != .null, schema["const"] != value { flaws.append("\(place) is not \(schema["const"])") }
        if case .array(let names) = schema["required"] {
            for case .string(let name) in names where value[name] == .null { flaws.append("\(place) has no \(name)") }
        }
        // JSON Schema has no such keyword; there, it takes two schemas in a "oneOf".
        if case .array(let names) = schema["exactlyOneOf"] {
            let foundCount = names.count { if case .string(let name) = $0 { value[name] != .null } else { false } }
            if foundCount != 1 { flaws.append("\(place) has \(foundCount) of \(names.count) fields") }
        }
        if case .object(let properties) = schema["properties"], case .object(let members) = value {
            for (name, member) in members {
                guard let property = properties[name] else {
                    // The specification leaves names with an underscore to the program.
                    if !name.hasPrefix("_") { flaws.append("\(place) has an unknown \(name)") }
                    continue
                }
                flaws += Self.flaws(of: member, property, definitions, "\(place).\(name)")
            }
        }
        if case .array(let values) = value {
            for (index, item) in values.enumerated() {
                flaws += Self.flaws(of: item, schema["items"], definitions, "\(place)[\(index)]")
            }
        }
        return flaws
    }

    private static func fits(_ value: JSONValue, _ type: String) -> Bool {
        switch (value, type) {
        case (.object, "object"), (.array, "array"), (.string, "string"), (.number, "number"), (.bool, "boolean"): true
        case (.number(let number), "integer"): Int(number.description) != nil
        default: false
        }
    }

    private static let text = """
        {
          "type": "object", "required": ["log"], "properties": {"log": {
            "type": "object", "required": ["version", "creator", "entries"], "properties": {
              "version": {"const": "1.2"},
              "creator": {"$ref": "program"},
              "browser": {"$ref": "program"},
              "pages": {"type": "array"},
              "entries": {"type": "array", "items": {"$ref": "entry"}},
              "comment": {"type": "string"}
            }
          }},
          "$defs": {
            "program": {"type": "object", "required": ["name", "version"], "properties": {
              "name": {"type": "string"}, "version": {"type": "string"}, "comment": {"type": "string"}
            }},
            "entry": {
              "type": "object",
              "required": ["startedDateTime", "time", "request", "response", "cache", "timings"],
              "properties": {
                "pageref": {"type": "string"},
                "startedDateTime": {"type": "string", "format": "date-time"},
                "time": {"type": "number", "minimum": 0},
                "request": {"$ref": "request"},
                "response": {"$ref": "response"},
                "cache": {"type": "object"},
                "timings": {"$ref": "timings"},
                "serverIPAddress": {"type": "string"},
                "connection": {"type": "string"},
                "comment": {"type": "string"}
              }
            },
            "request": {
              "type": "object",
              "required": [
                "method", "url", "httpVersion", "cookies", "headers", "queryString", "headersSize", "bodySize"
              ],
              "properties": {
                "method": {"type": "string"},
                "url": {"type": "string"},
                "httpVersion": {"type": "string"},
                "cookies": {"type": "array", "items": {"$ref": "pair"}},
                "headers": {"type": "array", "items": {"$ref": "pair"}},
                "queryString": {"type": "array", "items": {"$ref": "pair"}},
                "postData": {
                  "type": "object", "required": ["mimeType"], "exactlyOneOf": ["text", "params"],
                  "properties": {
                    "mimeType": {"type": "string"},
                    "text": {"type": "string"},
                    "params": {"type": "array", "items": {"$ref": "pair"}},
                    "comment": {"type": "string"}
                  }
                },
                "headersSize": {"type": "integer", "minimum": -1},
                "bodySize": {"type": "integer", "minimum": -1},
                "comment": {"type": "string"}
              }
            },
            "response": {
              "type": "object",
              "required": [
                "status", "statusText", "httpVersion", "cookies", "headers", "content", "redirectURL", "headersSize",
                "bodySize"
              ],
              "properties": {
                "status": {"type": "integer", "minimum": 0},
                "statusText": {"type": "string"},
                "httpVersion": {"type": "string"},
                "cookies": {"type": "array", "items": {"$ref": "pair"}},
                "headers": {"type": "array", "items": {"$ref": "pair"}},
                "content": {
                  "type": "object", "required": ["size", "mimeType"],
                  "properties": {
                    "size": {"type": "integer", "minimum": 0},
                    "compression": {"type": "integer"},
                    "mimeType": {"type": "string"},
                    "text": {"type": "string"},
                    "encoding": {"type": "string"},
                    "comment": {"type": "string"}
                  }
                },
                "redirectURL": {"type": "string"},
                "headersSize": {"type": "integer", "minimum": -1},
                "bodySize": {"type": "integer", "minimum": -1},
                "comment": {"type": "string"}
              }
            },
            "pair": {"type": "object", "required": ["name", "value"], "properties": {
              "name": {"type": "string"}, "value": {"type": "string"}, "comment": {"type": "string"}
            }},
            "timings": {
              "type": "object", "required": ["send", "wait", "receive"],
              "properties": {
                "blocked": {"type": "number", "minimum": -1},
                "dns": {"type": "number", "minimum": -1},
                "connect": {"type": "number", "minimum": -1},
                "ssl": {"type": "number", "minimum": -1},
                "send": {"type": "number", "minimum": 0},
                "wait": {"type": "number", "minimum": 0},
                "receive": {"type": "number", "minimum": 0},
                "comment": {"type": "string"}
              }
            }
          }
        }
        """
}
