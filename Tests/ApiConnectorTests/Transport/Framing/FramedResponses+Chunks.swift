// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension FramedResponse {
    /// Chunks (RFC 9112, section 7.1), which libcurl reads.
    ///
    /// libcurl skips what follows the digits of a size up to the next LF, a letter or NUL too, and takes LF for CR LF.
    static let chunks: [FramedResponse] = [
        FramedResponse(
            "digits in upper and lower case",
            .chunks("a\r\nhellohello\r\nA\r\nhellohello\r\n0\r\n\r\n"),
            .body("hellohellohellohello")
        ),
        FramedResponse("zeros before a size", .chunks("0000000000000005\r\nhello\r\n0\r\n\r\n"), .hello),
        FramedResponse("a last chunk of many zeros", .chunks("5\r\nhello\r\n0000000000\r\n\r\n"), .hello),
        FramedResponse("a last chunk of 20 zeros", .chunks("5\r\nhello\r\n00000000000000000000\r\n\r\n"), .malformed),
        FramedResponse("an extension", .chunks("5;a\r\nhello\r\n0\r\n\r\n"), .hello),
        FramedResponse("an extension with a value", .chunks("5;a=b\r\nhello\r\n0\r\n\r\n"), .hello),
        FramedResponse("an extension with a quoted value", .chunks("5;a=\"b;c\\\"\"\r\nhello\r\n0\r\n\r\n"), .hello),
        FramedResponse("an extension with blanks around it", .chunks("5 ; a = b\r\nhello\r\n0\r\n\r\n"), .hello),
        FramedResponse("an extension of the last chunk", .chunks("5\r\nhello\r\n0;a=b\r\n\r\n"), .hello),
        FramedResponse("an extension without a name", .chunks("5;\r\nhello\r\n0\r\n\r\n"), .hello),
        FramedResponse("an extension without a semicolon", .chunks("5 a=b\r\nhello\r\n0\r\n\r\n"), .hello),
        FramedResponse("an extension of 1000 bytes", .chunks("5;a=\(many("b", 1000))\r\nhello\r\n0\r\n\r\n"), .hello),
        FramedResponse(
            "an extension of 100 000 bytes",
            .chunks("5;a=\(many("b", 100_000))\r\nhello\r\n0\r\n\r\n"),
            .hello
        ),
        FramedResponse("an extension with NUL", .chunks("5;a=\0\r\nhello\r\n0\r\n\r\n"), .hello),
        FramedResponse("an extension with a bare CR", .chunks("5;a=\rb\r\nhello\r\n0\r\n\r\n"), .hello),
        FramedResponse("an extension that ends in LF", .chunks("5;a\nhello\r\n0\r\n\r\n"), .hello),
        FramedResponse("a quoted line end in an extension", .chunks("5;a=\"\r\nhello\r\n0\r\n\r\n"), .hello),
        FramedResponse("a blank after a size", .chunks("5 \r\nhello\r\n0\r\n\r\n"), .hello),
        FramedResponse("a blank before a size", .chunks(" 5\r\nhello\r\n0\r\n\r\n"), .malformed),
        FramedResponse("a tab before a size", .chunks("\t5\r\nhello\r\n0\r\n\r\n"), .malformed),
        FramedResponse("a plus before a size", .chunks("+5\r\nhello\r\n0\r\n\r\n"), .malformed),
        FramedResponse("a letter after a size", .chunks("5g\r\nhello\r\n0\r\n\r\n"), .hello),
        FramedResponse("a separator in a size", .chunks("0_5\r\nhello\r\n0\r\n\r\n"), .malformed, foundation: .lost),
        FramedResponse("no size", .chunks("\r\nhello\r\n0\r\n\r\n"), .malformed),
        FramedResponse("an extension and no size", .chunks(";a\r\nhello\r\n0\r\n\r\n"), .malformed),
        FramedResponse("a size that is a word", .chunks("size\r\nhello\r\n0\r\n\r\n"), .malformed),
        FramedResponse("NUL after a size", .chunks("5\0\r\nhello\r\n0\r\n\r\n"), .hello),
        FramedResponse("a size of 2^64 + 5", .chunks("10000000000000005\r\nhello\r\n0\r\n\r\n"), .malformed),
        FramedResponse("a size of 2^64 - 1", .chunks("FFFFFFFFFFFFFFFF\r\nhello\r\n0\r\n\r\n"), .malformed),
        FramedResponse("a size of 2^63", .chunks("8000000000000000\r\nhello\r\n0\r\n\r\n"), .malformed),
        FramedResponse("a size of 2^63 - 1", .chunks("7FFFFFFFFFFFFFFF\r\nhello"), .lost),
        FramedResponse("LF after a size", .chunks("5\nhello\r\n0\r\n\r\n"), .hello),
        FramedResponse("LF after a chunk", .chunks("5\r\nhello\n0\r\n\r\n"), .hello),
        FramedResponse("LF after the last chunk", .chunks("5\r\nhello\r\n0\n\n"), .hello),
        FramedResponse("CR after a size", .chunks("5\rhello\r\n0\r\n\r\n"), .lost),
        FramedResponse("CR and something else after a size", .chunks("5\rXhello\r\n0\r\n\r\n"), .lost),
        FramedResponse("CR after a chunk", .chunks("5\r\nhello\r0\r\n\r\n"), .malformed),
        FramedResponse("two bytes that are not CR LF after a chunk", .chunks("5\r\nhelloXX0\r\n\r\n"), .malformed),
        FramedResponse("no line end after a chunk", .chunks("5\r\nhello0\r\n\r\n"), .malformed),
        FramedResponse("a chunk shorter than its size", .chunks("6\r\nhello\r\n0\r\n\r\n"), .body("hello\r")),
        FramedResponse("no empty line at the end", .trailers(""), .lost),
        FramedResponse("no line end after the last chunk", .chunks("5\r\nhello\r\n0"), .lost),
        FramedResponse("the end within a size line", .chunks("5\r\nhello\r\n5"), .lost),
        FramedResponse("the end within a chunk", .chunks("5\r\nhello\r\n5\r\nhe"), .lost),
        FramedResponse("zero chunks", .chunks(""), .lost),
        FramedResponse("a body that is not chunked", .chunks("hello"), .malformed),
        FramedResponse("bytes after the last chunk", .trailers("\r\nworld"), .hello),
    ]
}
