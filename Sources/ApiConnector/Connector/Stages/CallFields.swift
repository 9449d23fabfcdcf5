// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The header fields that a call sets itself: `Accept`, `Content-Type`, `Accept-Encoding`, and those that resume a
/// body.
///
/// They are added to the merged fields of the environment, the route, the connection and the call's options. A transport
/// adds `User-Agent`, and a missing `Accept-Encoding` or `Content-Type`.
@usableFromInline struct CallFields: Sendable {
    /// The default `Accept` field.
    let accept: HTTPHeaders

    /// Whether the types of ``accept`` are added to an `Accept` field of the environment, the route or the connection.
    ///
    /// A stream can only read the media types of its format. An `Accept` field of the call's options stays unchanged.
    var isOfStream = false

    /// Whether the body may be resumed at a byte offset.
    ///
    /// If so, the request asks for an uncompressed body by default: the offsets of a compressed body are not those of
    /// its records or of a file.
    var isByteExact = false

    /// The fields that ask for the rest of a stream or a file; empty for the first request.
    var resumption = HTTPHeaders()

    @usableFromInline static let acceptingJSON = CallFields(accept: [.accept: "application/json"])
    static let acceptingAnything = CallFields(accept: [.accept: "*/*"])

    /// The fields of a download.
    static let ofDownload = CallFields(accept: [.accept: "*/*"], isOfStream: true, isByteExact: true)

    /// Adds the fields to a request.
    ///
    /// - Parameters:
    ///   - options: The fields of the call's options.
    ///   - hasType: Whether the route or the call's options have a `Content-Type`. A default `Content-Type` for all
    ///     requests cannot fit each body, so the body's own type replaces it.
    func add(to request: inout ApiRequest, options: HTTPHeaders, hasType: Bool) {
        if !request.headers.contains(.accept) {
            request.headers.append(accept)
        } else if isOfStream, !options.contains(.accept), let format = accept[.accept] {
            request.headers.accept(format)
        }
        if !hasType, let mediaType = request.body.mediaType {
            request.headers[.contentType] = mediaType.description
        }
        if isByteExact, !request.headers.contains(.acceptEncoding) { request.headers[.acceptEncoding] = "identity" }
        addResumption(to: &request)
    }

    /// Adds only the ``resumption`` fields, which replace fields of the same name.
    ///
    /// The request already has all other fields.
    func addResumption(to request: inout ApiRequest) {
        if !resumption.isEmpty { request.headers.merge(resumption) }
    }
}

extension HTTPHeaders {
    /// Replaces a default `Accept` field that has none of the format's media types; otherwise adds the missing types.
    fileprivate mutating func accept(_ format: String) {
        let present = values(.accept).joined(separator: ", ")
        guard present != format else { return }
        let defaults = MediaType.ranges(in: present)
        let own = MediaType.ranges(in: format)
        let missing = own.filter { range in !defaults.contains { range.isAccepted(by: $0) } }
        guard !missing.isEmpty else { return }
        let isOverlapping = missing.count < own.count || defaults.contains { $0.isAccepted(by: own[0]) }
        let added = missing.map { $0 == .any ? "\($0);q=0.1" : "\($0)" }
        self[.accept] = isOverlapping ? ([present] + added).joined(separator: ", ") : format
    }
}
