// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// An error object of JSON:API 1.1.
public struct JSONAPIError: ApiModel, Error, Hashable {
    /// The identifier of this occurrence.
    public var id: String?
    /// The HTTP status, as text.
    public var status: String?
    /// The backend's code.
    public var code: String?
    /// A short description of the kind of problem.
    public var title: String?
    /// A description of this occurrence.
    public var detail: String?
    /// The part of the request that caused the error.
    public var source: Source?

    /// The part of a request that caused an error.
    public struct Source: ApiModel, Hashable {
        /// A JSON pointer into the request's body.
        public var pointer: String?
        /// The name of a query item.
        public var parameter: String?
        /// The name of a header field.
        public var header: String?

        /// Makes a source.
        public init(pointer: String? = nil, parameter: String? = nil, header: String? = nil) {
            self.pointer = pointer
            self.parameter = parameter
            self.header = header
        }
    }

    /// Makes an error object, for example for a test.
    public init(
        id: String? = nil,
        status: String? = nil,
        code: String? = nil,
        title: String? = nil,
        detail: String? = nil,
        source: Source? = nil
    ) {
        self.id = id
        self.status = status
        self.code = code
        self.title = title
        self.detail = detail
        self.source = source
    }
}
