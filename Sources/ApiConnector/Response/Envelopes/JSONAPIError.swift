// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// One error object of JSON:API 1.1.
public struct JSONAPIError: ApiModel, Error, Hashable {
    /// This occurrence's identifier.
    public var id: String?
    /// The HTTP status, as text.
    public var status: String?
    /// The backend's code.
    public var code: String?
    /// What kind of problem it is, in words.
    public var title: String?
    /// What happened this time, in words.
    public var detail: String?
    /// Where in the request the cause is.
    public var source: Source?

    /// Where in the request the cause of an error is.
    public struct Source: ApiModel, Hashable {
        /// A JSON pointer into the request's body.
        public var pointer: String?
        /// A query item's name.
        public var parameter: String?
        /// A header field's name.
        public var header: String?

        /// Makes a source.
        public init(pointer: String? = nil, parameter: String? = nil, header: String? = nil) {
            self.pointer = pointer
            self.parameter = parameter
            self.header = header
        }
    }

    /// Makes an error object, such as for a test.
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
