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

    init(_ responses: [StoredResponse] = []) {
        self.responses = responses
    }

    /// RFC 9111, section 4.1: the index of the stored response that a request selects.
    fileprivate func index(for request: ApiRequest, as credential: Data, _ digest: CacheDigest) -> Int? {
        responses.firstIndex { stored in
            guard stored.credential == credential, let names = stored.varyingNames else { return false }
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
        var bodies: [Range<Int>] = []
        self.init(data, bodies: &bodies)
    }

    /// - Parameter bodies: Receives the places of the bodies, counted from the first byte.
    fileprivate init?(_ data: Data, bodies: inout [Range<Int>]) {
        var reader = RecordReader(data)
        guard reader.take(Self.mark), let count = reader.number(), 0...Self.maximumResponseCount ~= count else {
            return nil
        }
        for _ in 0..<count {
            guard let response = StoredResponse(from: &reader) else { return nil }
            responses.append(response)
            bodies.append(reader.offset - response.body.count..<reader.offset)
        }
        guard reader.isAtEnd else { return nil }
    }
}

/// A record that was parsed, without the bodies of its responses.
///
/// It answers a request from any bytes that differ from the parsed bytes only in the bodies. So a hit parses nothing,
/// and a record that another process has changed is parsed again.
final class ParsedCacheRecord: Sendable {
    private let record: CacheRecord
    /// The places of the bodies, counted from the first byte.
    private let bodies: [Range<Int>]
    /// The places between the bodies, and the bytes there.
    private let gaps: [Range<Int>]
    private let heads: Data
    private let recordByteCount: Int

    /// The approximate size in memory.
    let byteCount: Int

    /// Fails with nil for bytes that are not a record.
    init?(_ data: Data) {
        var bodies: [Range<Int>] = []
        guard let record = CacheRecord(data, bodies: &bodies) else { return nil }
        self.record = CacheRecord(record.responses.map(\.withoutBody))
        self.bodies = bodies
        gaps = zip([0] + bodies.map(\.upperBound), bodies.map(\.lowerBound) + [data.count]).map { $0..<$1 }
            .filter { !$0.isEmpty }
        recordByteCount = data.count
        heads = gaps.reduce(into: Data()) { $0 += data.bytes($1) }
        // A field has two strings with their own memory, and a directive is an entry of a dictionary with a set.
        byteCount = record.responses.reduce(2 * heads.count + 512) { count, response in
            count + 1024 + response.headers.count * 160 + response.directives.byteCount
        }
    }

    /// Whether bytes are those of this record, except for the bodies.
    func isParsed(from data: Data) -> Bool {
        guard data.count == recordByteCount else { return false }
        return data.withUnsafeBytes { bytes in
            heads.withUnsafeBytes { heads in
                guard let bytes = bytes.baseAddress, var head = heads.baseAddress else { return false }
                for gap in gaps {
                    guard memcmp(head, bytes + gap.lowerBound, gap.count) == 0 else { return false }
                    head += gap.count
                }
                return true
            }
        }
    }

    /// The stored response that a request selects; its body is a slice of the record's bytes.
    func response(
        to request: ApiRequest,
        as credential: Data,
        _ digest: CacheDigest,
        in data: Data
    ) -> StoredResponse? {
        guard let index = record.index(for: request, as: credential, digest) else { return nil }
        var response = record.responses[index]
        response.body = data.bytes(bodies[index])
        return response
    }
}

extension Data {
    /// The bytes of a range that is counted from the first byte.
    fileprivate func bytes(_ range: Range<Int>) -> Data {
        self[startIndex + range.lowerBound..<startIndex + range.upperBound]
    }
}

extension StoredResponse {
    fileprivate var withoutBody: StoredResponse {
        var response = self
        response.body = Data()
        return response
    }

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
            // Copies, because slices would keep the whole record in memory.
            credential: Data(credential),
            selection: Data(selection)
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
    private let data: Data
    /// The number of bytes that were read.
    private(set) var offset = 0

    init(_ data: Data) { self.data = data }

    var isAtEnd: Bool { offset == data.count }

    mutating func take(_ mark: [UInt8]) -> Bool {
        guard data.starts(with: mark) else { return false }
        offset += mark.count
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
        guard let count = number(), count >= 0, count <= data.count - offset else { return nil }
        defer { offset += count }
        return data.bytes(offset..<offset + count)
    }

    private mutating func bits() -> UInt64? {
        guard data.count - offset >= 8 else { return nil }
        defer { offset += 8 }
        return data.withUnsafeBytes {
            UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
    }
}
