// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import SwiftOperators
import SwiftParser
import SwiftSyntax

extension Mutant {
    /// All mutants of a source file.
    ///
    /// - Parameters:
    ///   - source: The file's text.
    ///   - file: Its path, for the mutants.
    public static func all(in source: String, of file: String) -> [Mutant] {
        let tree = OperatorTable.standardOperators.foldAll(Parser.parse(source: source)) { _ in }
        let finder = MutantFinder(
            file: file,
            lines: source.split(separator: "\n", omittingEmptySubsequences: false),
            converter: SourceLocationConverter(fileName: file, tree: tree)
        )
        finder.walk(tree)
        var counts: [String: Int] = [:]
        return finder.mutants.map { mutant in
            var numbered = mutant
            counts[mutant.identity, default: 0] += 1
            numbered.occurrence = counts[mutant.identity, default: 1]
            return numbered
        }
    }
}

/// Visits every place where a mutant can be.
private final class MutantFinder: SyntaxVisitor {
    private(set) var mutants: [Mutant] = []
    private let file: String
    private let lines: [Substring]
    private let converter: SourceLocationConverter

    private static let comparisons = ["<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="]
    private static let logic = ["&&": "||", "||": "&&"]
    private static let arithmetic = ["+": "-", "-": "+"]

    init(file: String, lines: [Substring], converter: SourceLocationConverter) {
        self.file = file
        self.lines = lines
        self.converter = converter
        super.init(viewMode: .sourceAccurate)
    }

    private func add(_ kind: Mutant.Operator, _ node: some SyntaxProtocol, _ mutated: String) {
        // The file keeps its line numbers, so that a compiler error can be attributed.
        if mutated.contains(where: \.isNewline) { return }
        let (start, end) = (node.positionAfterSkippingLeadingTrivia, node.endPositionBeforeTrailingTrivia)
        let line = converter.location(for: start).line
        mutants.append(
            Mutant(
                file: file,
                line: line,
                lastLine: converter.location(for: end).line,
                lineText: String(lines[line - 1].drop { $0 == " " }),
                kind: kind,
                original: node.trimmedDescription,
                mutated: mutated,
                range: start.utf8Offset..<end.utf8Offset
            )
        )
    }

    override func visit(_ node: InfixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
        guard let operation = node.operator.as(BinaryOperatorExprSyntax.self)?.operator.text else {
            return .visitChildren
        }
        func swapped(_ other: String) -> String {
            "\(node.leftOperand.trimmedDescription) \(other) \(node.rightOperand.trimmedDescription)"
        }
        if let other = Self.comparisons[operation] { add(.comparison, node, swapped(other)) }
        if let other = Self.logic[operation] { add(.logic, node, swapped(other)) }
        if let other = Self.arithmetic[operation],
            node.leftOperand.is(IntegerLiteralExprSyntax.self) || node.rightOperand.is(IntegerLiteralExprSyntax.self)
        {
            add(.arithmetic, node, swapped(other))
        }
        return .visitChildren
    }

    override func visit(_ node: PrefixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
        if node.operator.text == "!" { add(.logic, node, node.expression.trimmedDescription) }
        return .visitChildren
    }

    override func visit(_ node: IntegerLiteralExprSyntax) -> SyntaxVisitorContinueKind {
        add(.constant, node, "\(node.literal.text) + 1")
        return .skipChildren
    }

    override func visit(_ node: BooleanLiteralExprSyntax) -> SyntaxVisitorContinueKind {
        add(.constant, node, node.literal.text == "true" ? "false" : "true")
        return .skipChildren
    }

    override func visit(_ node: ConditionElementSyntax) -> SyntaxVisitorContinueKind {
        if case .expression(let condition) = node.condition,
            !condition.is(InfixOperatorExprSyntax.self), !condition.is(PrefixOperatorExprSyntax.self)
        {
            add(.condition, condition, "!(\(condition.trimmedDescription))")
        }
        return .visitChildren
    }

    override func visit(_ node: CodeBlockItemSyntax) -> SyntaxVisitorContinueKind {
        guard case .expr(let expression) = node.item else { return .visitChildren }
        var inner = expression
        while true {
            if let attempt = inner.as(TryExprSyntax.self) {
                inner = attempt.expression
            } else if let waiting = inner.as(AwaitExprSyntax.self) {
                inner = waiting.expression
            } else {
                break
            }
        }
        let isAssignment = inner.as(InfixOperatorExprSyntax.self).map { infix in
            infix.operator.is(AssignmentExprSyntax.self)
                || infix.operator.as(BinaryOperatorExprSyntax.self).map { ["+=", "-="].contains($0.operator.text) }
                    == true
        }
        // A lone statement may be the function's result.
        let isAlone = (node.parent?.as(CodeBlockItemListSyntax.self)?.count ?? 0) < 2
        if isAssignment == true || (inner.is(FunctionCallExprSyntax.self) && !isAlone) {
            add(.statement, expression, "")
        }
        return .visitChildren
    }

    // The compiler requires literals here.

    override func visit(_ node: AttributeSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: ExpressionPatternSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: EnumCaseDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: IfConfigDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: AvailabilityConditionSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: GenericArgumentClauseSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
}
