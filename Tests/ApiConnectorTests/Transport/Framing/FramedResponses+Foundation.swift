// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension FramedResponse {
    /// The outcomes over `URLSession` on Linux with other versions of libcurl than 7.88, where they differ.
    ///
    /// Seen with 8.4.0, 8.5.0, 8.12.1, 8.14.1, 8.16.0, 8.19.0, 8.21.0, 8.22.0, 8.23.0.
    static let foundationChanges: [FoundationChange<Outcome>] = [
        FoundationChange(
            from: "8.4.0",
            to: "8.12.1",
            .body("5\r\nhello\r\n0\r\n\r\n"),
            [
                "chunked with a parameter", "quoted chunked", "chunked with a letter before it",
                "chunked with a letter after it", "chunked after a form feed", "identity and chunked",
                "gzip and chunked",
            ]
        ),
        FoundationChange(from: "8.4.0", to: "8.12.1", .hello, ["gzip"]),
        FoundationChange(from: "8.12.1", .malformed, ["HTTP/2"]),
        FoundationChange(from: "8.14.1", .lost, ["chunked after a no-break space"]),
        FoundationChange(
            from: "8.14.1",
            .malformed,
            [
                "chunked with a parameter", "quoted chunked", "chunked with a letter before it",
                "chunked with a letter after it", "chunked after a form feed", "gzip and chunked", "gzip",
                "a separator in a size",
            ]
        ),
        FoundationChange(from: "8.19.0", .accepted(200, "hello", x: "y z"), ["a fold of blanks before more"]),
        FoundationChange(from: "8.19.0", .accepted(200, "hello", x: "y"), ["a fold of blanks"]),
        FoundationChange(
            from: "8.19.0",
            .malformed,
            [
                "HEAD with two lengths", "a length with a parameter", "lengths apart by a blank",
                "a length with a point", "a length with an exponent", "a length of 2^63 - 1, and 0",
                "a length with a separator",
            ]
        ),
        FoundationChange(
            from: "8.21.0",
            .malformed,
            [
                "a bare CR in the reason", "a bare CR and a field in the reason", "a field ends in CR CR LF",
                "the status line ends in CR CR LF",
            ]
        ),
    ]
}
