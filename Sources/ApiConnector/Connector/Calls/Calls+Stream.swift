// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiConnectionType {
    /// The values of a route as a stream: sent when it is iterated, and again when it is iterated again.
    ///
    /// The response's media type says whether they are several or one: see ``StreamFormat/automatic``. Nothing is sent
    /// before, and nothing is read ahead of the loop. Leaving the loop closes the connection. Canceling the task that
    /// iterates ends the call at once with kind `.cancelled`.
    public func stream<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self,
        at route: RouterType,
        options: CallOptions = CallOptions()
    ) -> ResponseStream<Value> {
        iterate(.route(route), .automatic, options)
    }

    /// As ``stream(of:at:options:)``, at a URL that a server returned; see ``value(_:at:method:body:options:)``.
    @_disfavoredOverload
    public func stream<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self,
        at url: URL,
        method: HTTPMethod = .get,
        body: RequestBody = .empty,
        options: CallOptions = CallOptions()
    ) -> ResponseStream<Value> {
        iterate(.url(url, method, body), .automatic, options)
    }

    /// As ``stream(of:at:options:)``, with a call that fixes the type.
    public func stream<Value: Decodable & Sendable>(
        _ call: ApiCall<RouterType, Value>,
        options: CallOptions = CallOptions()
    ) -> ResponseStream<Value> {
        iterate(call.target, .automatic, options)
    }

    /// The elements of a route's response in a format of the call's choosing.
    ///
    /// ```swift
    /// for try await post in api.stream(of: Post.self, at: .posts, as: .elements) { … }
    /// ```
    ///
    /// Each comes as soon as its last byte has arrived. A silence longer than ``Timeouts/stall`` fails the stream.
    /// Otherwise as ``stream(of:at:options:)``.
    ///
    /// - Parameters:
    ///   - type: What the elements are; left out where the format or the context names it.
    ///   - route: What to ask for.
    ///   - format: How bytes become elements, and what happens with a record that does not decode.
    ///   - options: What this call wants otherwise than its connection.
    public func stream<Element: Sendable>(
        of type: Element.Type = Element.self,
        at route: RouterType,
        as format: StreamFormat<Element>,
        options: CallOptions = CallOptions()
    ) -> ResponseStream<Element> {
        iterate(.route(route), format, options)
    }

    /// As ``stream(of:at:as:options:)``, at a URL that a server returned; see ``value(_:at:method:body:options:)``.
    @_disfavoredOverload
    public func stream<Element: Sendable>(
        of type: Element.Type = Element.self,
        at url: URL,
        method: HTTPMethod = .get,
        body: RequestBody = .empty,
        as format: StreamFormat<Element>,
        options: CallOptions = CallOptions()
    ) -> ResponseStream<Element> {
        iterate(.url(url, method, body), format, options)
    }

    /// As ``stream(of:at:as:options:)``, with a call that fixes the type of the elements.
    public func stream<Element: Sendable>(
        _ call: ApiCall<RouterType, Element>,
        as format: StreamFormat<Element>,
        options: CallOptions = CallOptions()
    ) -> ResponseStream<Element> {
        iterate(call.target, format, options)
    }

    private func iterate<Element>(
        _ target: CallTarget<RouterType>,
        _ format: StreamFormat<Element>,
        _ options: CallOptions
    ) -> ResponseStream<Element> {
        let pipeline = StreamPipeline(self, target, options)
        return ResponseStream { () async throws(ApiConnectorError) in try await pipeline.open(as: format) }
    }
}
