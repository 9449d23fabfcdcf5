// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import CHiredis
import Foundation

/// A reply of Redis.
enum RedisReply: Sendable, Equatable {
    case data(Data)
    case integer(Int64)
    case array([RedisReply])
    case null
    /// The error text for a command that Redis does not run.
    case failure(String)

    init(_ reply: UnsafeMutablePointer<redisReply>) {
        let value = reply.pointee
        let bytes = value.str.map { Data(bytes: $0, count: Int(value.len)) } ?? Data()
        switch value.type {
        case REDIS_REPLY_STRING, REDIS_REPLY_STATUS: self = .data(bytes)
        case REDIS_REPLY_INTEGER: self = .integer(value.integer)
        case REDIS_REPLY_ERROR: self = .failure(String(decoding: bytes, as: UTF8.self))
        case REDIS_REPLY_ARRAY:
            self = .array((0..<Int(value.elements)).map { index in value.element[index].map(RedisReply.init) ?? .null })
        default: self = .null
        }
    }

    var integer: Int64? {
        switch self {
        case .integer(let number): number
        case .data(let data): Int64(String(decoding: data, as: UTF8.self))
        default: nil
        }
    }

    var data: Data? {
        if case .data(let data) = self { data } else { nil }
    }

    /// Whether the server refuses all commands of this connection: it is a replica, or it wants a password.
    ///
    /// Redis 6 puts the error of a command into the error of its script.
    var isRefusalOfServer: Bool {
        guard case .failure(let text) = self else { return false }
        return ["READONLY ", "MASTERDOWN ", "NOAUTH "].contains { text.hasPrefix($0) || text.contains(" -\($0)") }
    }

    var elements: [RedisReply]? {
        if case .array(let elements) = self { elements } else { nil }
    }
}

/// Parses replies with hiredis.
final class RedisReader {
    private let reader: UnsafeMutablePointer<redisReader>

    init() {
        // hiredis returns nil only if memory is exhausted.
        guard let reader = redisReaderCreate() else { fatalError("no memory for a reader of replies") }
        self.reader = reader
    }

    deinit {
        redisReaderFree(reader)
    }

    /// Takes bytes, and returns the replies that are complete.
    ///
    /// - Throws: ``RedisFault`` if the bytes are not the protocol of Redis.
    func replies(in bytes: UnsafeRawBufferPointer) throws(RedisFault) -> [RedisReply] {
        guard redisReaderFeed(reader, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count) == REDIS_OK
        else { throw fault }
        var replies: [RedisReply] = []
        while true {
            var reply: UnsafeMutableRawPointer?
            guard redisReaderGetReply(reader, &reply) == REDIS_OK else { throw fault }
            guard let reply else { return replies }
            defer { freeReplyObject(reply) }
            replies.append(RedisReply(reply.assumingMemoryBound(to: redisReply.self)))
        }
    }

    private var fault: RedisFault {
        let text = withUnsafeBytes(of: reader.pointee.errstr) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        return RedisFault("the server does not speak the protocol of Redis: \(text)")
    }
}

/// The reason why Redis cannot be used.
struct RedisFault: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// A command in the protocol of Redis, encoded with hiredis.
struct RedisCommand: Sendable {
    let bytes: [UInt8]

    init(_ arguments: [Data]) throws(RedisFault) {
        var target: UnsafeMutablePointer<CChar>?
        var storage = arguments.map { [CChar]($0.map { CChar(bitPattern: $0) }) + [0] }
        let lengths = arguments.map(\.count)
        var pointers: [UnsafePointer<CChar>?] = []
        for index in storage.indices {
            // Each array lives until the end of this function.
            let copy = UnsafeMutablePointer<CChar>.allocate(capacity: storage[index].count)
            copy.initialize(from: &storage[index], count: storage[index].count)
            pointers.append(UnsafePointer(copy))
        }
        defer { for pointer in pointers { pointer.map { UnsafeMutablePointer(mutating: $0).deallocate() } } }
        let count = redisFormatCommandArgv(&target, Int32(arguments.count), &pointers, lengths)
        guard count >= 0, let target else { throw RedisFault("no memory for a command of Redis") }
        defer { redisFreeCommand(target) }
        bytes = target.withMemoryRebound(to: UInt8.self, capacity: Int(count)) { pointer in
            [UInt8](UnsafeBufferPointer(start: pointer, count: Int(count)))
        }
    }

    init(_ arguments: String...) throws(RedisFault) {
        try self.init(arguments.map { Data($0.utf8) })
    }
}
