// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// Writes types whose values have one of several types.

extension ModelWriter {
    func write(_ union: Union, _ declaration: Declaration, _ writer: inout SourceWriter) {
        documentation(declaration.documentation, &writer, declaration.shortName)
        let indirect = declaration.isIndirect ? "indirect " : ""
        let usage = declaration.usage
        writer.block("\(access)\(indirect)enum \(declaration.shortName): \(conformance(declaration))") { writer in
            for variant in union.cases {
                let code = code(of: variant, in: declaration)
                if !access.isEmpty { writer.line("/// `\(variant.type.isBinary ? code : variant.type.code)`.") }
                writer.call("case \(Identifier.escaped(variant.name))", [.text(code)])
            }
            if union.isOpen {
                if !access.isEmpty { writer.line("/// A value that the document does not describe.") }
                writer.line("case other(JSONValue)")
            }
            if configuration.isAlwaysCodable || usage.contains(.response) { writeDecoding(union, declaration, &writer) }
            if configuration.isAlwaysCodable || !usage.isDisjoint(with: [.request, .parameter]) {
                writeEncoding(union, &writer)
            }
            if usage.contains(.form) { writeFormValue(union, &writer) }
            writeNested(declaration, &writer)
        }
    }

    /// The type of an alternative as code; a file of a form, and a string in JSON.
    func code(of variant: Union.Case, in scope: Declaration) -> String {
        scope.usage.contains(.form) ? formCode(variant.type, scope) : variant.type.code(in: scope)
    }

    private func writeDecoding(_ union: Union, _ scope: Declaration, _ writer: inout SourceWriter) {
        writer.blank()
        if !access.isEmpty { writer.line("/// Reads the alternative that matches.") }
        writer.block("\(access)init(from decoder: any Decoder) throws") { writer in
            let arms = union.isOpen && union.tag != nil ? union.arms : []
            let tagged = Set(arms.flatMap(\.cases))
            let others = union.cases.indices.filter { !tagged.contains($0) && !union.cases[$0].isUnreadable }
                .map { union.cases[$0] }.sorted { Self.isTried($0, before: $1) }
            guard let tag = union.tag, !arms.isEmpty else {
                writeChain(union.isOpen ? others : union.cases, union.isOpen, scope, &writer)
                return
            }
            writer.line("switch decoder.memberText(\(PlainText.literal(tag))) {")
            for arm in arms {
                if arm.cases.count == 1 {
                    write(arm.values, union.cases[arm.cases[0]], scope, &writer)
                } else {
                    write(arm.values, arm.cases.map { union.cases[$0] }, union.secondTags[arm.cases], scope, &writer)
                }
            }
            if let fallback = union.cases.first(where: { $0.name == union.fallback }) {
                writer.call(
                    "default: self = .\(Identifier.escaped(fallback.name))",
                    [.text("try \(code(of: fallback, in: scope))(from: decoder)")]
                )
            } else if others.isEmpty {
                writer.line("default: self = .other(try JSONValue(from: decoder))")
            } else {
                writer.line("default:")
                writer.indented { writeChain(others, true, scope, &$0) }
            }
            writer.line("}")
        }
    }

    private func write(_ tags: [String], _ variant: Union.Case, _ scope: Declaration, _ writer: inout SourceWriter) {
        writer.patterns(
            tags.map(PlainText.literal),
            ("self = .\(Identifier.escaped(variant.name))", "try \(code(of: variant, in: scope))(from: decoder)")
        )
    }

    /// Writes code that distinguishes alternatives with the same value of the tag: by another member, or by the
    /// required members.
    private func write(
        _ tags: [String],
        _ variants: [Union.Case],
        _ second: String?,
        _ scope: Declaration,
        _ writer: inout SourceWriter
    ) {
        writer.patterns(tags.map(PlainText.literal))
        writer.indented { writer in
            guard let second else {
                writeChain(variants.sorted { Self.isTried($0, before: $1) }, true, scope, &writer)
                return
            }
            writer.line("switch decoder.memberText(\(PlainText.literal(second))) {")
            for variant in variants {
                guard case .declared(let declared) = variant.type else { continue }
                let values = declared.structure?.properties.first { $0.key == second }?.values ?? []
                write(values, variant, scope, &writer)
            }
            writer.line("default: self = .other(try JSONValue(from: decoder))")
            writer.line("}")
        }
    }

    /// Whether decoding tries an alternative before another one: types that accept many values come last.
    private static func isTried(_ left: Union.Case, before right: Union.Case) -> Bool {
        (left.type.openness, -left.required.count) < (right.type.openness, -right.required.count)
    }

    private func writeChain(
        _ cases: [Union.Case],
        _ isOpen: Bool,
        _ scope: Declaration,
        _ writer: inout SourceWriter
    ) {
        let tried = cases.filter { !$0.type.isJSON || isOpen }
        guard !tried.isEmpty else {
            writeRest(of: cases, isOpen, &writer)
            return
        }
        var head = "if"
        for variant in tried {
            let members = variant.required.prefix(4).map(PlainText.literal).joined(separator: ", ")
            var parts = variant.required.isEmpty ? [] : ["decoder.hasMembers(\(members))"]
            parts += Self.missingMembers(of: variant, cases).map { "!decoder.hasMembers(\($0))" }
            parts.append("let value = try? \(reading(variant, scope))")
            writer.condition(head, parts)
            writer.indented { $0.line("self = .\(Identifier.escaped(variant.name))(value)") }
            head = "} else if"
        }
        writer.line("} else {")
        writer.indented { writeRest(of: cases, isOpen, &$0) }
        writer.line("}")
    }

    /// Writes the code for a value that no other alternative accepts.
    private func writeRest(of cases: [Union.Case], _ isOpen: Bool, _ writer: inout SourceWriter) {
        if isOpen {
            writer.line("self = .other(try JSONValue(from: decoder))")
        } else if let json = cases.first(where: \.type.isJSON) {
            writer.line("self = .\(Identifier.escaped(json.name))(try JSONValue(from: decoder))")
        } else {
            writer.line(
                "let context = DecodingError.Context(codingPath: decoder.codingPath, debugDescription: \"No error fits.\")"
            )
            writer.line("throw DecodingError.dataCorrupted(context)")
        }
    }

    /// The code that reads an alternative, without `try`.
    private func reading(_ variant: Union.Case, _ scope: Declaration) -> String {
        let code = code(of: variant, in: scope)
        return variant.type.hasCoderFormat
            ? "decoder.singleValueContainer().decode(\(code).self)" : "\(code)(from: decoder)"
    }

    /// The members that other alternatives require, and that a value of this alternative would lose.
    ///
    /// A value with such members is not of this alternative, even if it is not a valid value of the other one.
    private static func missingMembers(of variant: Union.Case, _ cases: [Union.Case]) -> [String] {
        guard case .declared(let declared) = variant.type, let structure = declared.structure,
            structure.additional == nil
        else { return [] }
        let known = Set(structure.properties.map(\.key))
        let lists = cases.filter { $0.required.count > variant.required.count }.compactMap { other -> String? in
            let isMore = Set(other.required).isSuperset(of: variant.required)
            let lost = other.required.filter { !known.contains($0) }
            return isMore && !lost.isEmpty ? lost.prefix(4).map(PlainText.literal).joined(separator: ", ") : nil
        }
        var seen: Set<String> = []
        return lists.filter { seen.insert($0).inserted }
    }

    /// Writes the function that adds the value to a form.
    private func writeFormValue(_ union: Union, _ writer: inout SourceWriter) {
        writer.blank()
        if !access.isEmpty { writer.line("/// The parts of the form with this name.") }
        writer.block("\(access)func parts(named name: String, as mediaType: String?) -> [MultipartPart]") { writer in
            writer.line("var form = FormParts()")
            writer.line("switch self {")
            let hasFiles = union.cases.contains(where: \.type.isBinary)
            for variant in union.cases {
                // The media type of a file is not that of the other alternatives.
                let media = variant.type.isBinary || !hasFiles ? ", as: mediaType" : ""
                writer.line(
                    "case .\(Identifier.escaped(variant.name))(let value):",
                    breakBefore: "form.add(\(partLabel(variant.type, isJSON: false))name, value\(media))"
                )
            }
            if union.isOpen { writer.line("case .other(let value): form.add(json: name, value)") }
            writer.line("}")
            writer.line("return form.parts")
        }
    }

    private func writeEncoding(_ union: Union, _ writer: inout SourceWriter) {
        writer.blank()
        if !access.isEmpty { writer.line("/// Writes the value.") }
        writer.block("\(access)func encode(to encoder: any Encoder) throws") { writer in
            writer.line("switch self {")
            for variant in union.cases {
                let head = "case .\(Identifier.escaped(variant.name))(let value):"
                if variant.type.hasCoderFormat {
                    writer.line(head)
                    writer.indented { writer in
                        writer.line("var container = encoder.singleValueContainer()")
                        writer.line("try container.encode(value)")
                    }
                } else {
                    writer.line(head, breakBefore: "try value.encode(to: encoder)")
                }
            }
            if union.isOpen { writer.line("case .other(let value): try value.encode(to: encoder)") }
            writer.line("}")
        }
    }
}
