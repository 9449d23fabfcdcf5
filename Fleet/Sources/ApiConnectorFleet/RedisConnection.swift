// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import NIOCore
import NIOPosix
import NIOSSL

/// One connection to Redis.
///
/// Commands are pipelined: each command is sent at once, and the replies arrive in the order of the commands.
final class RedisConnection: Sendable {
    private let channel: any Channel
    private let replies: NIOLoopBound<RedisReplies>

    private init(_ channel: any Channel, _ replies: NIOLoopBound<RedisReplies>) {
        self.channel = channel
        self.replies = replies
    }

    /// Runs an action when the connection is closed.
    func onClose(_ action: @escaping @Sendable () -> Void) {
        channel.closeFuture.whenComplete { _ in action() }
    }

    /// A connection without a reply for this time is closed after the time limit of an operation.
    static let longestSilence = TimeAmount.seconds(1)

    /// Whether a command has waited for its reply for ``longestSilence``.
    ///
    /// Call it only on the event loop.
    var isSilent: Bool {
        replies.value.waiting.first.map { $0.time + Self.longestSilence <= .now() } ?? false
    }

    /// Connects and signs in, within 2 seconds.
    static func connect(
        to server: RedisServer,
        on eventLoop: any EventLoop
    ) -> EventLoopFuture<RedisConnection> {
        let end = NIODeadline.now() + .seconds(2)
        return ClientBootstrap(group: eventLoop)
            .connectTimeout(.seconds(2))
            .channelOption(.socketOption(.tcp_nodelay), value: 1)
            .channelOption(.socketOption(.so_keepalive), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls = server.tls {
                        let handler = try NIOSSLClientHandler(context: tls, serverHostname: server.serverName)
                        try channel.pipeline.syncOperations.addHandler(handler)
                    }
                    try channel.pipeline.syncOperations.addHandler(RedisReplies())
                }
            }
            .connect(host: server.host, port: server.port)
            .flatMap { channel in
                channel.eventLoop.flatSubmit {
                    do {
                        let handler = try channel.pipeline.syncOperations.handler(type: RedisReplies.self)
                        let connection = RedisConnection(channel, NIOLoopBound(handler, eventLoop: channel.eventLoop))
                        let timer = channel.eventLoop.scheduleTask(deadline: end) { connection.close() }
                        return connection.signIn(to: server).always { _ in timer.cancel() }
                    } catch {
                        return channel.eventLoop.makeFailedFuture(error)
                    }
                }
            }
    }

    private func signIn(to server: RedisServer) -> EventLoopFuture<RedisConnection> {
        do {
            var replies: [EventLoopFuture<RedisReply>] = []
            if let password = server.password {
                let command = try server.user.map { try RedisCommand("AUTH", $0, password) }
                replies.append(send(try command ?? RedisCommand("AUTH", password)))
            }
            if server.database != 0 { replies.append(send(try RedisCommand("SELECT", "\(server.database)"))) }
            return EventLoopFuture.whenAllSucceed(replies, on: channel.eventLoop).flatMapThrowing { replies in
                for case .failure(let text) in replies {
                    self.close()
                    throw RedisFault("Redis refuses the connection: \(Self.reason(text, hiding: server.password))")
                }
                return self
            }
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
    }

    /// The text of a refusal; only its code if it quotes the password.
    ///
    /// The text for an unknown command quotes the beginning of its arguments.
    private static func reason(_ text: String, hiding password: String?) -> String {
        guard let password, text.contains(password.prefix(4)) else { return text }
        return String(text.prefix { $0 != " " })
    }

    /// Sends a command.
    func send(_ command: RedisCommand) -> EventLoopFuture<RedisReply> {
        let promise = channel.eventLoop.makePromise(of: RedisReply.self)
        channel.eventLoop.execute { [self] in
            guard channel.isActive else { return promise.fail(RedisFault("the connection to Redis is closed")) }
            replies.value.waiting.append((promise, .now()))
            channel.writeAndFlush(ByteBuffer(bytes: command.bytes), promise: nil)
        }
        return promise.futureResult
    }

    func close() {
        channel.close(promise: nil)
    }
}

/// Passes each reply to its command.
final class RedisReplies: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// The commands without a reply, in the order in which they were sent.
    var waiting = CircularBuffer<(promise: EventLoopPromise<RedisReply>, time: NIODeadline)>()
    private let reader = RedisReader()

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        do {
            let replies = try unwrapInboundIn(data).withUnsafeReadableBytes { bytes throws(RedisFault) in
                try reader.replies(in: bytes)
            }
            for reply in replies {
                guard let promise = waiting.popFirst()?.promise else {
                    throw RedisFault("Redis sent a reply that nothing had asked for")
                }
                promise.succeed(reply)
            }
        } catch {
            errorCaught(context: context, error: error)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        fail(RedisFault("Redis has closed the connection"))
        context.fireChannelInactive()
    }

    private func fail(_ error: any Error) {
        while let command = waiting.popFirst() { command.promise.fail(error) }
    }
}
