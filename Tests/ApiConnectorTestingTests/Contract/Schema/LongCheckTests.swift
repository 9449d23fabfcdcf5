// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

@testable import ApiConnectorContracts
import ApiConnector
import Testing

/// Tests of checks with many steps or many levels.
@Suite(.timeLimit(.minutes(10)))
struct LongCheckTests {}

extension LongCheckTests {
    /// A schema with 100 levels, each of which applies the next one twice.
    private func doubling(_ keyword: String) -> String {
        let levels = (0..<100).map { level in
            let next = ##"{"$ref":"#/$defs/a\##(level + 1)"}"##
            return ##""a\##(level)":{"\##(keyword)":[\##(next),\##(next)]}"##
        }
        return ##"{"$ref":"#/$defs/a0","$defs":{\##(levels.joined(separator: ",")),"a100":false}}"##
    }

    @Test func alternativesThatDoubleTheWorkAtEachLevelAreCheckedOnce() throws {
        let schema = doubling("anyOf")
        let found = try violations(of: "1", schema)
        #expect(found.count == 1)
        #expect(found.first?.sentence.contains("too many") == false)
        var checker = SchemaChecker()
        checker.maximumCount = 1_000
        let first = try violations(of: "1", schema, checker)
        #expect(
            first.map(\.sentence) == [
                "the check takes too many steps, because the value is very large or the schema nests alternatives"
            ]
        )
    }

    @Test func violationsThatDoubleAtEachLevelAreLimited() throws {
        let schema = doubling("allOf")
        let found = try violations(of: "1", schema)
        #expect(!found.isEmpty && found.count <= 1_000)
    }

    /// A long check keeps results, but the result of `base` depends on the schemas around it.
    @Test(arguments: [false, true])
    func aMemberOfTheOtherDirectionIsFoundAgainInALongCheck(_ isReversed: Bool) throws {
        let alternatives = [
            ##"{"allOf":[{"$ref":"#/base"}],"properties":{"id":{"readOnly":true},"kind":{"const":"a"}}}"##,
            ##"{"allOf":[{"$ref":"#/base"}],"properties":{"kind":{"const":"b"}}}"##,
        ]
        let list = (isReversed ? alternatives.reversed() : alternatives).joined(separator: ",")
        let schema = ##"{"items":{"oneOf":[\##(list)]},"base":{"required":["id"]}}"##
        let count = 3_000
        let value = "[" + (0..<count).map { #"{"kind":"\#($0 % 2 == 0 ? "a" : "b")"}"# }.joined(separator: ",") + "]"
        let found = try violations(of: value, schema, SchemaChecker(direction: .request))
        #expect(found.count == 1_000)
        #expect(found.allSatisfy { Int($0.value.dropFirst()).map { $0 % 2 } == 1 })
    }

    @Test func aResultWithinACycleIsNotUsedOutsideOfIt() throws {
        // The array makes the check long, so that results are kept.
        let schema =
            ##"{"type":"array","items":{"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/b"}]},"$defs":{"##
            + ##""a":{"anyOf":[{"$ref":"#/$defs/b"},{"type":"integer"}]},"b":{"anyOf":[{"$ref":"#/$defs/a"},{"type":"string"}]}}}"##
        let value = "[" + (0..<2_000).map { "\($0)" }.joined(separator: ",") + "]"
        #expect(try violations(of: value, schema).isEmpty)
    }

    @Test func deepNestingIsAViolationNotACrash() throws {
        let deep = (0..<500).reduce(JSONValue.array([])) { value, _ in .array([value]) }
        let checker = SchemaChecker()
        #expect(
            checker.violations(of: deep, against: try node(##"{"items":{"$ref":"#"}}"##)).map(\.sentence) == [
                "the value and its schema are nested deeper than 256 levels"
            ]
        )
        #expect(checker.violations(of: deep, against: try node(#"{"type":"array"}"#)).isEmpty)
    }
}
