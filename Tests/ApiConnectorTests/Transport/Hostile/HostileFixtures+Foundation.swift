// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension HostileFixture {
    /// The outcomes over `URLSession` on Linux with other versions of libcurl than 7.88, where they differ.
    ///
    /// Seen with 8.4.0, 8.5.0, 8.12.1, 8.14.1, 8.16.0, 8.19.0, 8.21.0, 8.22.0, 8.23.0.
    static let foundationChanges: [FoundationChange<Outcome>] = [
        FoundationChange(
            from: "8.4.0",
            to: "8.12.1",
            .response(200, "5\r\nhello\r\n0\r\n\r\n"),
            ["an unknown transfer coding", "chunked after a vertical tab"]
        ),
        FoundationChange(from: "8.4.0", .failure(.malformedResponse), ["a folded first field"]),
        FoundationChange(
            from: "8.14.1",
            .failure(.malformedResponse),
            [
                "an unknown transfer coding", "chunked after a vertical tab", "a length with a plus",
                "a chunk size of 0x5",
            ]
        ),
        FoundationChange(
            from: "8.19.0",
            .failure(.malformedResponse),
            [
                "two lengths", "two lengths, the longer last", "a list of two lengths",
                "a list with an empty element", "a hexadecimal length", "a length with a letter", "a folded length",
                "chunked with a fold after it",
            ]
        ),
        FoundationChange(from: "8.19.0", .response(200, "hello"), ["folded chunked"]),
        FoundationChange(
            from: "8.21.0",
            .failure(.malformedResponse),
            ["a bare CR in a value", "a bare CR in Location"]
        ),
    ]
}
