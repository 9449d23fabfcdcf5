// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import SwiftDiagnostics
import SwiftParser
import SwiftParserDiagnostics
import SwiftSyntax

/// Counts the declarations and statements of a source, without its names and texts.
final class SourceShape: SyntaxVisitor {
    private(set) var counts: [String: Int] = [:]
    private var path: [String] = []

    /// The combined shape of several sources, and their syntax errors.
    static func examine(_ sources: [String]) -> (counts: [String: Int], flaws: [String]) {
        let shape = SourceShape(viewMode: .sourceAccurate)
        var flaws: [String] = []
        for source in sources {
            let tree = Parser.parse(source: source)
            shape.walk(tree)
            if tree.hasError { flaws += ParseDiagnosticsGenerator.diagnostics(for: tree).map(\.message) }
        }
        return (shape.counts, flaws)
    }

    private func enter(_ kind: String) -> SyntaxVisitorContinueKind {
        path.append(kind)
        counts[path.joined(separator: ">"), default: 0] += 1
        return .visitChildren
    }

    private func leave() { path.removeLast() }

    override func visit(_ node: StructDeclSyntax) -> SyntaxVisitorContinueKind { enter("struct") }
    override func visitPost(_ node: StructDeclSyntax) { leave() }
    override func visit(_ node: EnumDeclSyntax) -> SyntaxVisitorContinueKind { enter("enum") }
    override func visitPost(_ node: EnumDeclSyntax) { leave() }
    override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind { enter("class") }
    override func visitPost(_ node: ClassDeclSyntax) { leave() }
    override func visit(_ node: ProtocolDeclSyntax) -> SyntaxVisitorContinueKind { enter("protocol") }
    override func visitPost(_ node: ProtocolDeclSyntax) { leave() }
    override func visit(_ node: ExtensionDeclSyntax) -> SyntaxVisitorContinueKind { enter("extension") }
    override func visitPost(_ node: ExtensionDeclSyntax) { leave() }
    override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind { enter("func") }
    override func visitPost(_ node: FunctionDeclSyntax) { leave() }
    override func visit(_ node: InitializerDeclSyntax) -> SyntaxVisitorContinueKind { enter("init") }
    override func visitPost(_ node: InitializerDeclSyntax) { leave() }
    override func visit(_ node: VariableDeclSyntax) -> SyntaxVisitorContinueKind { enter("var") }
    override func visitPost(_ node: VariableDeclSyntax) { leave() }
    override func visit(_ node: EnumCaseElementSyntax) -> SyntaxVisitorContinueKind { enter("case") }
    override func visitPost(_ node: EnumCaseElementSyntax) { leave() }
    override func visit(_ node: TypeAliasDeclSyntax) -> SyntaxVisitorContinueKind { enter("typealias") }
    override func visitPost(_ node: TypeAliasDeclSyntax) { leave() }
    override func visit(_ node: ImportDeclSyntax) -> SyntaxVisitorContinueKind { enter("import") }
    override func visitPost(_ node: ImportDeclSyntax) { leave() }
    override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind { enter("call") }
    override func visitPost(_ node: FunctionCallExprSyntax) { leave() }
    override func visit(_ node: StringLiteralExprSyntax) -> SyntaxVisitorContinueKind { enter("string") }
    override func visitPost(_ node: StringLiteralExprSyntax) { leave() }
    override func visit(_ node: ExpressionSegmentSyntax) -> SyntaxVisitorContinueKind { enter("interpolation") }
    override func visitPost(_ node: ExpressionSegmentSyntax) { leave() }
    override func visit(_ node: AttributeSyntax) -> SyntaxVisitorContinueKind { enter("attribute") }
    override func visitPost(_ node: AttributeSyntax) { leave() }
    override func visit(_ node: IfConfigDeclSyntax) -> SyntaxVisitorContinueKind { enter("#if") }
    override func visitPost(_ node: IfConfigDeclSyntax) { leave() }
    override func visit(_ node: MacroExpansionDeclSyntax) -> SyntaxVisitorContinueKind { enter("macro") }
    override func visitPost(_ node: MacroExpansionDeclSyntax) { leave() }
    override func visit(_ node: MacroExpansionExprSyntax) -> SyntaxVisitorContinueKind { enter("macro") }
    override func visitPost(_ node: MacroExpansionExprSyntax) { leave() }
}
