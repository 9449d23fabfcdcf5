// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension FramedResponse {
    /// Folded lines (RFC 9112, section 5.2): they go on with the value before them, after one space.
    static let folds: [FramedResponse] = [
        FramedResponse("a fold by a tab", .fields(["X: y", "\tz"]), .hello(x: "y z")),
        FramedResponse("a fold of two lines", .fields(["X: a", " b", "  c"]), .hello(x: "a b c")),
        FramedResponse("a fold after an empty value", .fields(["X:", " y"]), .hello(x: "y")),
        FramedResponse("a fold of blanks", .fields(["X: y", " "]), .hello(x: "y"), foundation: .malformed),
        FramedResponse(
            "a fold of blanks before more",
            .fields(["X: y", " ", " z"]),
            .hello(x: "y z"),
            foundation: .malformed
        ),
        FramedResponse(
            "a fold at the head's end",
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX: y\r\n z\r\n\r\nhello"),
            .hello(x: "y z")
        ),
        FramedResponse(
            "a fold like a length",
            .fields(["X: y", " Content-Length: 50"]),
            .hello(x: "y Content-Length: 50")
        ),
        FramedResponse(
            "a fold of a repeated field",
            .fields(["X: a", "X: b", " c"]),
            .hello(x: "a|b c"),
            foundation: .hello(x: "a, b c")
        ),
        FramedResponse("a fold of a name", .fields(["X", "  : y"]), .malformed),
    ]
}
