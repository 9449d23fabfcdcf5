// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Finds the operations with pages, which a link of the document or a rule of the configuration describes.
struct PagePlanner {
    let specification: SpecificationReader
    let configuration: Configuration
    let modelWriter: ModelWriter

    private var warnings: Warnings { specification.warnings }

    /// The names of members of `NextPage`, which a generated property cannot have.
    private static let taken: Set<String> = ["link", "route", "url", "number", "cursor"]

    /// Adds the pages to the functions of all routers.
    ///
    /// - Throws: ``DocumentError`` if the configuration names an operation that has no such pages.
    func plan(_ routers: [RouterPlan]) throws(DocumentError) {
        var used: Set<Int> = []
        var planned: Set<String> = []
        for router in routers {
            for index in router.functions.indices {
                let function = router.functions[index]
                let id = Self.id(of: function.operation)
                let linked = linkedPages(of: function.operation)
                guard case .value(let type) = function.value, function.hasJSONValue,
                    function.operation.method == "get"
                else { continue }
                if let linked {
                    router.functions[index].pages = plan(linked, function, type)
                } else {
                    let rules = configuration.pages.enumerated().filter { _, rule in
                        rule.operations.isEmpty || rule.operations.contains(id)
                    }
                    for (number, rule) in rules {
                        guard let pages = plan(rule, function, type) else { continue }
                        router.functions[index].pages = pages
                        used.insert(number)
                        break
                    }
                }
                if router.functions[index].pages != nil { planned.insert(id) }
            }
        }
        for (number, rule) in configuration.pages.enumerated() {
            if let missing = rule.operations.subtracting(planned).min() {
                let functions = routers.flatMap(\.functions).filter { Self.id(of: $0.operation) == missing }
                let reason = reason(of: functions, without: rule)
                throw DocumentError("the operation \(quoted(missing)) has no pages: \(reason)")
            }
            if rule.operations.isEmpty, !used.contains(number) {
                warnings.add(specification.root, "no operation has pages with the member \(quoted(rule.next))")
            }
        }
    }

    private static func id(of operation: Operation) -> String { operation.id ?? operation.title }

    /// The reason why a rule does not apply to the operation that it names.
    private func reason(of functions: [FunctionPlan], without rule: Configuration.Pages) -> String {
        guard let operation = functions.first?.operation else { return "it is not in the document" }
        if operation.method != "get" {
            return "its method is \(operation.method.uppercased()), and only the responses of GET have pages"
        }
        guard functions.contains(where: \.hasJSONValue) else { return "its response is not one JSON value" }
        let query = rule.query.map { "the query item \(quoted($0)) or " } ?? ""
        let flag = rule.whileTrue.map { " or the Boolean \(quoted($0))" } ?? ""
        return "\(query)the member \(quoted(rule.next))\(flag) is missing"
    }

    /// The pages that a link from a successful response to its own operation describes; nil if there is no such link.
    ///
    /// It warns of other links.
    private func linkedPages(of operation: Operation) -> Configuration.Pages? {
        var found: Configuration.Pages?
        for response in operation.responses {
            for link in response.links {
                let prefix = "$response.body#"
                let parameters = link.value["parameters"]?.members ?? []
                let isOwn =
                    link.value["operationId"]?.string.map { $0 == operation.id } ?? refers(link.value, to: operation)
                if response.isSuccess, operation.method == "get", found == nil, isOwn, parameters.count == 1,
                    link.value["requestBody"] == nil, let expression = parameters[0].value.string,
                    expression.hasPrefix(prefix + "/")
                {
                    let key = parameters[0].key
                    let name = key.hasPrefix("query.") ? String(key.dropFirst(6)) : key
                    let pages = Configuration.Pages(query: name, next: String(expression.dropFirst(prefix.count)))
                    if operation.parameters.contains(where: { $0.location == .query && $0.name == name }) {
                        found = pages
                        continue
                    }
                }
                guard configuration.selects(operation) else { continue }
                warnings.add(
                    link.value,
                    "this link is ignored, because it does not name the cursor of its own operation with the method GET"
                )
            }
        }
        return found
    }

    private func refers(_ link: Node, to operation: Operation) -> Bool {
        guard let reference = link["operationRef"]?.string,
            let target = try? specification.documents.target(of: reference, at: link)
        else { return false }
        return target === operation.node
    }

    private func plan(
        _ pages: Configuration.Pages,
        _ function: FunctionPlan,
        _ type: OptionalType
    ) -> PagePlan? {
        let operation = function.operation
        if let query = pages.query {
            guard operation.parameters.contains(where: { $0.location == .query && $0.name == query }) else {
                return nil
            }
        }
        let root = "$0.value" + (type.isNullable ? "?" : "")
        guard let (next, isURL) = member(pages.next, of: type.type, root, isLink: pages.query == nil)
        else { return nil }
        var closure = next
        if let pointer = pages.whileTrue {
            guard let flag = flag(pointer, of: type.type, root) else { return nil }
            closure = "\(flag) == false ? nil : \(next)"
        }
        let name = Self.taken.contains(function.name) ? function.name + "Pages" : function.name
        let head = pages.query.map { ".cursor(\(PlainText.literal($0)))" } ?? (isURL ? ".url" : ".link")
        return PagePlan(name: name, head: head, closure: closure)
    }

    private func flag(_ pointer: String, of type: TypeUse, _ root: String) -> String? {
        guard let (code, leaf) = path(pointer, of: type, root), case .bool = leaf else { return nil }
        return code.hasSuffix("?") ? String(code.dropLast()) : code
    }

    /// The code that reads a member as text, or a link as a URL; nil if its type allows neither.
    private func member(
        _ pointer: String,
        of type: TypeUse,
        _ root: String,
        isLink: Bool
    ) -> (code: String, isURL: Bool)? {
        guard let (code, leaf) = path(pointer, of: type, root) else { return nil }
        let plain = code.hasSuffix("?") ? String(code.dropLast()) : code
        switch leaf {
        case .string: return (plain, false)
        case .url: return isLink ? (plain, true) : ("\(code).absoluteString", false)
        case _ where isLink: return nil
        case .int, .int32, .int64, .uint64, .double, .decimal, .decimalText, .dateTime, .day:
            return ("\(code).description", false)
        case .uuid: return ("\(code).uuidString", false)
        case .declared(let declared) where declared.enumeration != nil:
            return ("\(code).rawValue.description", false)
        case .json: return ("\(code).string", false)
        case .declared(let declared) where declared.isOpaque: return ("\(code).string", false)
        default: return nil
        }
    }

    /// The code that reads a member, with a question mark at its end if the member can be missing.
    private func path(_ pointer: String, of type: TypeUse, _ root: String) -> (code: String, leaf: TypeUse)? {
        var code = root
        var type = type
        let steps = pointer.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        for step in steps {
            let key = String(step).replacing("~1", with: "/").replacing("~0", with: "~")
            guard case .declared(let declared) = type, let structure = declared.structure,
                let found = modelWriter.access(to: key, of: structure, declared)
            else { return nil }
            code += "." + found.code
            type = found.type
        }
        return (code, type)
    }
}

extension FunctionPlan {
    /// Whether the call returns one value, neither a stream nor a text or a file.
    fileprivate var hasJSONValue: Bool {
        if case .value = value { !isStream } else { false }
    }
}
