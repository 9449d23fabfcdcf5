// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

struct RandomHTTPTests {
    @Test func parsesEveryMediaTypeThatItWrites() {
        var texts = HostileText(.printed())
        var failures: [String] = []
        for _ in 0..<SplitMix64.caseCount {
            let (value, other) = (texts.next(), texts.next())
            let parameters = [
                MediaType.Parameter(name: "a", value: value), MediaType.Parameter(name: "B", value: other),
            ]
            let type = MediaType("Text", "Plain", parameters: parameters)
            let read = MediaType(type.description)
            let values = read?.parameters.map { Array($0.value.utf8) }
            if read?.type != "text" || read?.subtype != "plain" || values != [Array(value.utf8), Array(other.utf8)] {
                failures.append(String(reflecting: type.description))
            }
        }
        #expect(failures.count == 0, "\(failures.prefix(5))")
    }

    @Test func parsesNoMediaTypeThatItCannotWrite() {
        var texts = HostileText(.printed())
        var failures: [String] = []
        for _ in 0..<SplitMix64.caseCount {
            let texts = [texts.next(), "a/b;" + texts.next(), "a/b; c=\"" + texts.next(), "a/" + texts.next()]
            for text in texts {
                guard let type = MediaType(text) else { continue }
                if MediaType(type.description) != type { failures.append(String(reflecting: text)) }
                if !MediaType.ranges(in: type.description).contains(type) { failures.append(String(reflecting: text)) }
            }
        }
        #expect(failures.count == 0, "\(failures.prefix(5))")
    }

    @Test func neverSendsALineBreak() {
        var texts = HostileText(.printed())
        var failures: [String] = []
        for _ in 0..<SplitMix64.caseCount {
            var headers = HTTPHeaders()
            let (name, value, other) = (HTTPHeaders.Name(texts.next()), texts.next(), texts.next())
            headers.append(name, value)
            headers[name] = other
            headers.append("Good", value)
            headers.merge([name: value])
            let isClean = headers.allSatisfy { field in
                let bytes = Array(field.name.rawValue.utf8) + Array(field.value.utf8)
                return !bytes.contains { $0 == 0 || $0 == 10 || $0 == 13 } && !field.name.rawValue.isEmpty
            }
            let isKept = headers.contains(name) || headers.refused.contains { $0.name == name }
            if !isClean || !isKept {
                failures.append(String(reflecting: [name.rawValue, value, other]))
            }
        }
        #expect(failures.count == 0, "\(failures.prefix(5))")
    }
}
