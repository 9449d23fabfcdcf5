// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A line in a test's code, which an issue names.
public struct CodeLocation: Sendable, Hashable, CustomStringConvertible {
    /// The file as in `#fileID`.
    public let fileID: String

    /// The file as in `#filePath`, for XCTest.
    public let filePath: StaticString

    /// The line, counted from 1.
    public let line: UInt

    package init(_ fileID: String, _ filePath: StaticString, _ line: UInt) {
        self.fileID = fileID
        self.filePath = filePath
        self.line = line
    }

    /// File and line, such as `BlogTests.swift:12`.
    public var description: String {
        "\(fileID.split(separator: "/").last ?? ""):\(line)"
    }

    /// Whether both values name the same line.
    public static func == (left: Self, right: Self) -> Bool {
        left.fileID == right.fileID && left.line == right.line
    }

    /// Hashes file and line.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(fileID)
        hasher.combine(line)
    }
}
