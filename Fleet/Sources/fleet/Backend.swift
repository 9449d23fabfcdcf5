// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// An HTTP/1.1 server on a free port of 127.0.0.1, which runs as long as the program.
struct Backend {
    /// A request that the server receives.
    struct Question {
        let path: String
        let fields: HTTPHeaders

        /// The process that sent the request.
        var process: pid_t? { fields.first(name: "X-Process").flatMap { pid_t($0) } }
    }

    /// A response that the server sends.
    struct Answer {
        var status = HTTPResponseStatus.ok
        var text = ""
        /// Whether the response must be sent later.
        var isHeld: (@Sendable () -> Bool)?
        /// A closure that runs after the response has been sent.
        var afterwards: (@Sendable () -> Void)?
    }

    let port: Int

    /// Starts a server.
    ///
    /// - Parameter answer: Answers a request; nil closes the connection.
    init(_ answer: @escaping @Sendable (Question) -> Answer?) async throws {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 256)
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Answers(answer))
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        port = channel.localAddress?.port ?? 0
    }
}

private final class Answers: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let answer: @Sendable (Backend.Question) -> Backend.Answer?
    private var head: HTTPRequestHead?

    init(_ answer: @escaping @Sendable (Backend.Question) -> Backend.Answer?) {
        self.answer = answer
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let new): head = new
        case .body: break
        case .end:
            guard let head, let answer = answer(Backend.Question(path: head.uri, fields: head.headers)) else {
                return context.close(promise: nil)
            }
            send(answer, context)
        }
    }

    private func send(_ answer: Backend.Answer, _ context: ChannelHandlerContext) {
        if let isHeld = answer.isHeld, isHeld() {
            context.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(5)) { self.send(answer, context) }
            return
        }
        let fields = HTTPHeaders([("Content-Length", "\(answer.text.utf8.count)")])
        let reply = HTTPResponseHead(version: .http1_1, status: answer.status, headers: fields)
        let isSent = context.eventLoop.makePromise(of: Void.self)
        if let afterwards = answer.afterwards { isSent.futureResult.whenComplete { _ in afterwards() } }
        context.write(wrapOutboundOut(.head(reply)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: answer.text)))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: isSent)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
