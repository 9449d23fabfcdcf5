// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiConnectionType {
    /// Streams the values of a route's response.
    ///
    /// The media type of the response decides whether there are several values or one; see ``StreamFormat/automatic``.
    /// The stream is cold: each iteration sends the request again. Leaving the loop closes the connection. Canceling the
    /// task that iterates ends the call with kind `.cancelled`, after the loop has taken the elements that are already
    /// decoded.
    public func stream<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self,
        at route: RouterType,
        options: CallOptions = CallOptions()
    ) -> ResponseStream<Value> {
        makeStream(.route(route), .automatic, options)
    }

    /// Like ``stream(of:at:options:)``, for a URL that a server returned; see ``value(_:at:method:body:options:)``.
    @_disfavoredOverload
    public func stream<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self,
        at url: URL,
        method: HTTPMethod = .get,
        body: RequestBody = .empty,
        options: CallOptions = CallOptions()
    ) -> ResponseStream<Value> {
        makeStream(.url(url, method, body), .automatic, options)
    }

    /// Like ``stream(of:at:options:)``, with an ``ApiCall``, whose value type is fixed.
    public func stream<Value: Decodable & Sendable>(
        _ call: ApiCall<RouterType, Value>,
        options: CallOptions = CallOptions()
    ) -> ResponseStream<Value> {
        makeStream(call.target, .automatic, options)
    }

    /// Streams the elements of a route's response in the given format.
    ///
    /// ```swift
    /// for try await post in api.stream(of: Post.self, at: .posts, as: .elements) { … }
    /// ```
    ///
    /// The stream delivers each element as soon as its last byte has arrived. It fails if no data arrives for longer
    /// than ``Timeouts/stall``. Otherwise it behaves like ``stream(of:at:options:)``.
    ///
    /// - Parameters:
    ///   - type: The type of the elements; can be left out if the format or the context names it.
    ///   - route: The route to request.
    ///   - format: How bytes become elements, and what happens to a record that does not decode.
    ///   - options: Options of this call.
    public func stream<Element: Sendable>(
        of type: Element.Type = Element.self,
        at route: RouterType,
        as format: StreamFormat<Element>,
        options: CallOptions = CallOptions()
    ) -> ResponseStream<Element> {
        makeStream(.route(route), format, options)
    }

    /// Like ``stream(of:at:as:options:)``, for a URL that a server returned; see ``value(_:at:method:body:options:)``.
    @_disfavoredOverload
    public func stream<Element: Sendable>(
        of type: Element.Type = Element.self,
        at url: URL,
        method: HTTPMethod = .get,
        body: RequestBody = .empty,
        as format: StreamFormat<Element>,
        options: CallOptions = CallOptions()
    ) -> ResponseStream<Element> {
        makeStream(.url(url, method, body), format, options)
    }

    /// Like ``stream(of:at:as:options:)``, with an ``ApiCall``, whose element type is fixed.
    public func stream<Element: Sendable>(
        _ call: ApiCall<RouterType, Element>,
        as format: StreamFormat<Element>,
        options: CallOptions = CallOptions()
    ) -> ResponseStream<Element> {
        makeStream(call.target, format, options)
    }

    private func makeStream<Element>(
        _ target: CallTarget<RouterType>,
        _ format: StreamFormat<Element>,
        _ options: CallOptions
    ) -> ResponseStream<Element> {
        let pipeline = StreamPipeline(self, target, options)
        return ResponseStream { () async throws(ApiConnectorError) in try await pipeline.open(as: format) }
    }
}
