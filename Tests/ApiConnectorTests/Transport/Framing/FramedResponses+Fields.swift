// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension FramedResponse {
    /// Names and values (RFC 9112, section 5, and RFC 9110, section 5.5).
    ///
    /// A name is a token without a blank after it. A value has no control character but the tab, and at most 100 KiB.
    static let fields: [FramedResponse] = [
        FramedResponse("blanks around a value", .fields(["X: \t y \t "]), .hello(x: "y")),
        FramedResponse("no blank before a value", .fields(["X:y"]), .hello(x: "y"), foundation: .malformed),
        FramedResponse("an empty value", .fields(["X:"]), .hello(x: "")),
        FramedResponse("colons in a value", .fields(["X: :y:z:"]), .hello(x: ":y:z:")),
        FramedResponse("a tab in a value", .fields(["X: y\tz"]), .hello(x: "y\tz")),
        FramedResponse("quotes in a value", .fields(["X: \"y\\\"z\""]), .hello(x: "\"y\\\"z\"")),
        FramedResponse("a value in Latin-1", .fields(["X: caf\u{e9}"]), .hello(x: "café"), foundation: .malformed),
        FramedResponse("a value in UTF-8", .fields(["X: caf\u{c3}\u{a9}"]), .hello(x: "café")),
        FramedResponse("a value of 60 000 bytes", .fields(["X-Long: \(many("a", 60_000))"]), .hello),
        FramedResponse("a value of 120 000 bytes", .fields(["X-Long: \(many("a", 120_000))"]), .malformed),
        FramedResponse("a thousand fields", .fields(Array(repeating: "X-Many: y", count: 1000)), .hello),
        FramedResponse("a name of 1000 bytes", .fields(["\(many("X", 1000)): y"]), .hello),
        FramedResponse("a name of punctuation", .fields(["!#$%&'*+-.^_`|~: y"]), .hello),
        FramedResponse("a name with a bracket", .fields(["X[]: y"]), .malformed),
        FramedResponse("a name with an at sign", .fields(["X@: y"]), .malformed),
        FramedResponse("a name with a quote", .fields(["\"X\": y"]), .malformed),
        FramedResponse("a name in Latin-1", .fields(["X\u{e9}: y"]), .malformed),
        FramedResponse("a name with NUL", .fields(["X\0: y"]), .malformed),
        FramedResponse("a name with a slash", .fields(["X/Y: y"]), .malformed),
        FramedResponse("a tab before the colon", .fields(["X\t: y"]), .malformed),
        FramedResponse("a line of one colon", .fields([":"]), .malformed),
        FramedResponse("a control character in a value", .fields(["X: y\u{1}z"]), .malformed, foundation: .hello),
        FramedResponse("a vertical tab before a value", .fields(["X: \u{b}y"]), .malformed, foundation: .hello),
        FramedResponse("NUL at the end of a value", .fields(["X: y\0"]), .malformed),
    ]
}
