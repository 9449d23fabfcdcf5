// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Writes code that calls each function of the routers, for `Scripts/openapi-suite`.
///
/// The arguments are decoded when the code runs, so that the compiler has no large literals to check.
struct CallerWriter {
    let routerWriter: RouterWriter
    let apiName: String

    /// The number of calls in one generated function.
    ///
    /// It is small, because long functions compile slowly.
    private static let callCount = 20

    func files(of routers: [RouterPlan]) -> [Generator.File] {
        let files = routers.map { router in
            Generator.File(name: "Callers/\(router.name)+Calls.swift", text: text(of: router))
        }
        var writer = SourceWriter()
        writer.line("import ApiConnector")
        writer.blank()
        writer.block("func callEverything(_ caller: FunctionCaller) async") { writer in
            for router in routers { writer.line("await \(router.name).callEverything(caller)") }
        }
        return files + [Generator.File(name: "Callers/Calls.swift", text: writer.lines.joined(separator: "\n") + "\n")]
    }

    private func text(of router: RouterPlan) -> String {
        var writer = SourceWriter()
        writer.line("import ApiConnector")
        writer.blank()
        let parts = stride(from: 0, to: router.functions.count, by: Self.callCount).map {
            Array(router.functions[$0..<min($0 + Self.callCount, router.functions.count)])
        }
        writer.block("extension \(router.name)") { writer in
            writer.block("static func callEverything(_ caller: FunctionCaller) async") { writer in
                writer.line(
                    "let api = caller.connection(\(router.name).self, \(apiName)Server(host: \"api.example.com\"))"
                )
                for index in parts.indices { writer.line("await part\(index)(caller, api)") }
            }
            for (index, functions) in parts.enumerated() {
                writer.blank()
                let connection = "NetworkConnector<AnyProvider, \(router.name)>"
                writer.block("private static func part\(index)(_ caller: FunctionCaller, _ api: \(connection)) async") {
                    writer in
                    for function in functions { write(function, router, &writer) }
                }
            }
        }
        return writer.lines.joined(separator: "\n") + "\n"
    }

    private func write(_ function: FunctionPlan, _ router: RouterPlan, _ writer: inout SourceWriter) {
        let arguments = function.arguments.enumerated().map { index, argument in
            "\(Identifier.escaped(argument.name)): value\(index)"
        }
        let call = ".\(Identifier.escaped(function.name))(\(arguments.joined(separator: ", ")))"
        let operation = function.operation
        let names = [operation.method.uppercased(), operation.path, "\(router.name).\(function.name)"]
        let name = names.map { PlainText.literal($0) }.joined(separator: ", ")
        writer.line("await caller.call(\(name)) { a in")
        writer.indented { writer in
            // Each argument has its own variable with an explicit type, so that the compiler checks it alone. Ten
            // arguments in one expression take the compiler minutes.
            for (index, argument) in function.arguments.enumerated() {
                let type = routerWriter.argumentCode(argument) + (argument.isOptional ? "?" : "")
                writer.line("let value\(index): \(type) = try a(\(PlainText.literal(key(of: argument))))")
            }
            switch function.value {
            case .none: writer.line("try await api.send(\(call))")
            case .value(let type) where function.isStream:
                let format = if case .event = type.type { ", as: .events" } else { "" }
                writer.line("try await a.receive(api.stream(\(call)\(format)))")
            case .value: writer.line("a.receive(try await api.value(\(call)))")
            case .text: writer.line("_ = try await api.string(at: \(call))")
            case .bytes: writer.line("_ = try await api.data(at: \(call))")
            }
        }
        writer.line("}")
    }

    /// The place and the name of an argument in the document.
    private func key(of argument: FunctionPlan.Argument) -> String {
        switch argument.location {
        case .parameter(let parameter): "\(parameter.location.rawValue) \(parameter.name)"
        case .body(_, let mediaType): "body \(mediaType)"
        }
    }
}
