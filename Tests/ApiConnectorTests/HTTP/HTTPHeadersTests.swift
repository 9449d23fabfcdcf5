// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

struct HTTPHeadersTests {
    /// The fields one line each, with nothing redacted.
    private func lines(_ headers: HTTPHeaders) -> [String] {
        headers.map { "\($0.name): \($0.value)" }
    }

    @Test func keepsOrderRepetitionAndCase() {
        var headers: HTTPHeaders = ["B": "1", "a": "2", "b": "3"]
        headers.append("A", "4")
        #expect(lines(headers) == ["B: 1", "a: 2", "b: 3", "A: 4"])
        #expect(headers.values("b") == ["1", "3"])
        #expect(headers["A"] == "2")
        #expect(headers.contains("b"))
        #expect(!headers.contains("c"))
        #expect(headers["c"] == nil)
        #expect(headers.values("c") == [])
    }

    @Test func setsAtThePlaceOfTheFirst() {
        var headers: HTTPHeaders = ["A": "1", "b": "2", "C": "3", "B": "4"]
        headers["B"] = "5"
        #expect(lines(headers) == ["A: 1", "B: 5", "C: 3"])
        headers["D"] = "6"
        #expect(lines(headers) == ["A: 1", "B: 5", "C: 3", "D: 6"])
        headers["a"] = nil
        #expect(lines(headers) == ["B: 5", "C: 3", "D: 6"])
        headers.remove("d")
        #expect(lines(headers) == ["B: 5", "C: 3"])
    }

    @Test func laterFieldsReplaceEarlierOnes() {
        var headers: HTTPHeaders = ["A": "1", "B": "2", "b": "3", "C": "4"]
        headers.merge(["b": "5", "B": "6", "D": "7"])
        #expect(lines(headers) == ["A: 1", "C: 4", "b: 5", "B: 6", "D: 7"])
        #expect(lines(headers.merging([:])) == lines(headers))
        #expect(lines(HTTPHeaders().merging(headers)) == lines(headers))
    }

    static let refusedValues = ["a\r\nX: 1", "a\nb", "a\rb", "\0", "a\0b", "\r\n"]

    @Test(arguments: refusedValues)
    func refusesAValueWithALineBreak(_ value: String) {
        var headers: HTTPHeaders = ["A": value, "B": "1"]
        #expect(lines(headers) == ["B: 1"])
        #expect(headers.refused.map(\.name) == ["A"])
        headers["B"] = value
        #expect(lines(headers) == [])
        #expect(headers.refused.map(\.name) == ["A", "B"])
        headers["A"] = "good"
        headers["B"] = "good"
        #expect(lines(headers) == ["A: good", "B: good"])
        #expect(headers.refused == [])
    }

    @Test(arguments: ["", " ", "A B", "A:", "A\r\n", "É", "A\0", "(A)", "\"A\"", "a,b", "a/b", "A "])
    func refusesANameThatIsNotAToken(_ name: String) {
        let headers: HTTPHeaders = [HTTPHeaders.Name(name): "1"]
        #expect(headers.isEmpty)
        #expect(headers.refused.map(\.name.rawValue) == [name])
    }

    @Test func keepsARefusedFieldThroughAMerge() {
        let bad: HTTPHeaders = ["A": "a\nb"]
        let good: HTTPHeaders = ["A": "1", "B": "2"]
        #expect(good.merging(bad).refused == bad.refused)
        #expect(bad.merging(good).refused == [])
        #expect(bad.merging(["B": "2"]).refused == bad.refused)
        #expect(HTTPHeaders().merging(bad).refused == bad.refused)
    }

    @Test(arguments: [" a b ", "\ta b\t", "a b", " \t a b \t "])
    func trimsSpacesAndTabs(_ value: String) {
        let headers: HTTPHeaders = ["A": value]
        #expect(headers["A"] == "a b")
    }

    @Test func keepsCharactersThatOnlyLookLikeASpace() {
        let headers: HTTPHeaders = ["A": "\u{A0}a\u{2003}", "B": " \u{301}", "C": " "]
        #expect(headers["A"] == "\u{A0}a\u{2003}")
        #expect(headers["B"]?.unicodeScalars.map(\.value) == [0x301])
        #expect(headers["C"] == "")
    }

    @Test func hashesNamesAsItComparesThem() {
        let names: [(HTTPHeaders.Name, HTTPHeaders.Name)] = [
            ("content-TYPE", "Content-Type"), ("X-a", "x-A"), ("[", "["), ("@", "@"),
        ]
        for (left, right) in names {
            #expect(left == right)
            #expect(left.hashValue == right.hashValue)
        }
        #expect(HTTPHeaders.Name("[") != "{")
        #expect(HTTPHeaders.Name("@") != "`")
        #expect(HTTPHeaders.Name("K") != "\u{212A}")
        #expect(HTTPHeaders.Name("ab") != "abc")
    }

    @Test func comparesAndHashesTheFields() {
        let headers: HTTPHeaders = ["A": "1", "B": "2"]
        let same: HTTPHeaders = ["a": "1", "b": "2"]
        #expect(headers == same)
        #expect(headers.hashValue == same.hashValue)
        #expect(headers != ["B": "2", "A": "1"])
        #expect(headers != ["A": "1"])
        #expect(headers != ["A": "1", "B": "3"])
    }

    @Test func describesItselfWithoutSecrets() {
        let headers: HTTPHeaders = ["Accept": "*/*", "authorization": "Bearer hush", "Set-Cookie": "a=hush"]
        #expect(headers.description == "Accept: */*\nauthorization: Bearer REDACTED\nSet-Cookie: a=REDACTED")
    }
}
