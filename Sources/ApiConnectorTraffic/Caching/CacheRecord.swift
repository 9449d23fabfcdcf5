// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The stored responses of one URL, for different users and `Vary` selections, newest first.
///
/// The encoded form is a list of numbers and length-prefixed texts. Any other bytes that a storage returns are ignored.
struct CacheRecord: Sendable, Hashable {
    /// The largest number of responses for one URL.
    static let maximumResponseCount = 8

    private(set) var responses: [StoredResponse] = []

    init() {}

    /// RFC 9111, section 4.1: the stored response that a request selects.
    func response(to request: ApiRequest, as credential: Data, _ digest: CacheDigest) -> StoredResponse? {
        responses.first { stored in
            guard stored.credential == credential, let names = CacheRules.varyingNames(stored.headers) else {
                return false
            }
            return stored.selection == digest.selection(of: request.headers, by: names)
        }
    }

    /// Replaces the response with the same user and selection.
    mutating func insert(_ new: StoredResponse) {
        remove(new)
        responses.insert(new, at: 0)
        if responses.count > Self.maximumResponseCount { responses.removeLast() }
    }

    mutating func remove(_ old: StoredResponse) {
        responses.removeAll { $0.credential == old.credential && $0.selection == old.selection }
    }

    /// Keeps the newest responses whose bodies together are within a limit.
    mutating func trim(to byteCount: Int) {
        var rest = byteCount
        responses = Array(
            responses.prefix {
                rest -= $0.body.count
                return rest >= 0
            }
        )
    }
}

extension CacheRecord {
    /// The start of an encoded record, with the format version.
    private static let mark = Array("ApiConnector cache 1\n".utf8)

    var data: Data {
        var writer = RecordWriter(Self.mark)
        writer.write(responses.count)
        for response in responses {
            writer.write(response.status.rawValue)
            writer.write(response.requestDate)
            writer.write(response.responseDate)
            writer.write(response.credential)
            writer.write(response.selection)
            writer.write(response.headers.count)
            for field in response.headers {
                writer.write(Data(field.name.rawValue.utf8))
                writer.write(Data(field.value.utf8))
            }
            writer.write(response.body)
        }
        return writer.data
    }

    /// Fails with nil for bytes that are not a record.
    init?(_ data: Data) {
        var reader = RecordReader(data)
        guard reader.take(Self.mark), let count = reader.number(), 0...Self.maximumResponseCount ~= count else {
            return nil
        }
        for _ in 0..<count {
            guard let response = StoredResponse(from: &reader) else { return nil }
            responses.append(response)
        }
        guard reader.isAtEnd else { return nil }
    }
}

extension StoredResponse {
    fileprivate init?(from reader: inout RecordReader) {
        guard let status = reader.number(), let requestDate = reader.date(), let responseDate = reader.date(),
            let credential = reader.bytes(), let selection = reader.bytes(), let fieldCount = reader.number(),
            fieldCount >= 0
        else { return nil }
        var headers = HTTPHeaders()
        for _ in 0..<fieldCount {
            guard let name = reader.bytes(), let value = reader.bytes() else { return nil }
            headers.append(
                HTTPHeaders.Name(String(decoding: name, as: UTF8.self)),
                String(decoding: value, as: UTF8.self)
            )
        }
        guard headers.refused.isEmpty, let body = reader.bytes() else { return nil }
        self.init(
            status: HTTPStatus(rawValue: status),
            headers: headers,
            body: body,
            requestDate: requestDate,
            responseDate: responseDate,
            credential: credential,
            selection: selection
        )
    }
}

private struct RecordWriter {
    private(set) var data: Data

    init(_ mark: [UInt8]) { data = Data(mark) }

    mutating func write(_ number: Int) {
        withUnsafeBytes(of: Int64(number).littleEndian) { data.append(contentsOf: $0) }
    }

    mutating func write(_ date: Date) {
        withUnsafeBytes(of: date.timeIntervalSince1970.bitPattern.littleEndian) { data.append(contentsOf: $0) }
    }

    mutating func write(_ bytes: Data) {
        write(bytes.count)
        data.append(bytes)
    }
}

private struct RecordReader {
    private var rest: Data

    init(_ data: Data) { rest = data }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func take(_ mark: [UInt8]) -> Bool {
        guard rest.starts(with: mark) else { return false }
        rest = rest.dropFirst(mark.count)
        return true
    }

    mutating func number() -> Int? {
        bits().flatMap { Int(exactly: Int64(bitPattern: $0)) }
    }

    mutating func date() -> Date? {
        guard let seconds = bits().map({ Double(bitPattern: $0) }), seconds.isFinite, abs(seconds) < 1e15 else {
            return nil
        }
        return Date(timeIntervalSince1970: seconds)
    }

    mutating func bytes() -> Data? {
        guard let count = number(), count >= 0, count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    private mutating func bits() -> UInt64? {
        guard rest.count >= 8 else { return nil }
        defer { rest = rest.dropFirst(8) }
        return UInt64(littleEndianBytes: rest.prefix(8))
    }
}
