// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector
public import ApiConnectorTesting

/// A stateful collection of a backend: a paginated list whose items can be read, created, changed and deleted.
///
/// ```swift
/// let teas = FakeCollection("/teas", of: [Tea.green, .black], by: \.id)
/// let shop = NetworkConnector(environment: .test, provider: TestConnector(teas), router: TeaShop.self)
/// ```
///
/// | Request | Answer |
/// |---|---|
/// | `GET /teas?page=2&per_page=10` | 200, the items of that page, with `Link` and `X-Total-Count` |
/// | `POST /teas` | 201 with the item and its `Location`; 409 where its id is taken |
/// | `GET /teas/7` | 200 with the item |
/// | `PUT /teas/7`, `PATCH /teas/7` | 200 with the item as it is now; 409 where the body has another id |
/// | `DELETE /teas/7` | 204 |
///
/// Errors: 404 for a missing item, 422 for a body that does not decode as the model, 400 for an invalid page, 405 for
/// another method. Each request is atomic, so any task may send requests.
public final class FakeCollection<Model, ID>: ResponseSource
where Model: Codable & Sendable, ID: Codable & Hashable & Sendable & LosslessStringConvertible {
    /// The path of the collection, including the environment's base path.
    public let path: String

    private let id: @Sendable (Model) -> ID
    private let configuration: FakeConfiguration
    private let state: Locked<State>
    private let segments: [String]

    private struct State {
        var items: [Model]
        var version = 0
    }

    /// Makes a collection.
    ///
    /// - Parameters:
    ///   - path: The path of the collection, including the environment's base path.
    ///   - items: The initial items; empty by default.
    ///   - id: The property that holds an item's id.
    ///   - configuration: The format of requests and answers; ``FakeConfiguration/init()`` by default.
    public init(
        _ path: String,
        of items: [Model] = [],
        by id: any KeyPath<Model, ID> & Sendable,
        configuration: FakeConfiguration = FakeConfiguration()
    ) {
        self.path = path
        self.id = { $0[keyPath: id] }
        self.configuration = configuration
        state = Locked(State(items: items))
        segments = Self.segments(path)
    }

    /// The current items.
    public var items: [Model] { state.withLock { $0.items } }

    /// The item with an id.
    ///
    /// Assign a value to add or replace the item, or nil to remove the item.
    public subscript(id: ID) -> Model? {
        get { items.first { self.id($0) == id } }
        set {
            update { items in
                let index = items.firstIndex { self.id($0) == id }
                switch (index, newValue) {
                case (let index?, let item?): items[index] = item
                case (let index?, nil): items.remove(at: index)
                case (nil, let item?): items.append(item)
                case (nil, nil): break
                }
            }
        }
    }

    /// Changes the items atomically.
    ///
    /// The lock is not held while the model's own code runs.
    private func update<Value, Failure: Error>(
        _ change: (inout [Model]) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        while true {
            let (before, version) = state.withLock { ($0.items, $0.version) }
            var items = before
            let value = try change(&items)
            let isDone = state.withLock { [items] state in
                guard state.version == version else { return false }
                state = State(items: items, version: version + 1)
                return true
            }
            if isDone { return value }
        }
    }

    /// Whether a request is for this collection.
    public func isMeant(by request: ApiRequest) -> Bool { rest(of: request) != nil }

    /// Handles a request.
    ///
    /// - Throws: `ApiConnectorError` of kind `.unmatched` for a request to another path.
    public func response(for request: ApiRequest) async throws -> TestConnectorResponse {
        guard let rest = rest(of: request) else {
            throw ApiConnectorError(.unmatched, "it is not for the collection at \(path)", request: request)
        }
        let body = try await request.body.collect(upTo: ResponseDelivery.standard.maximumByteCount)
        do throws(FakeRefusal) {
            guard let segment = rest.first else { return try collection(request, body) }
            guard let id = ID(segment) else { throw missing(segment) }
            return try item(id, request, body)
        } catch {
            return .data(
                configuration.failureBody(error.status, error.sentence),
                status: error.status,
                headers: error.headers.merging([.contentType: "application/json"])
            )
        }
    }

    /// The decoded segments after the collection's path: an empty array for the collection, an item's id for an item;
    /// nil for another path.
    private func rest(of request: ApiRequest) -> [String]? {
        let sent = Self.segments(request.url.path(percentEncoded: true)).map { $0.removingPercentEncoding ?? $0 }
        guard sent.starts(with: segments), sent.count <= segments.count + 1 else { return nil }
        return Array(sent.dropFirst(segments.count))
    }

    private static func segments(_ path: String) -> [String] {
        path.split(separator: "/").map(String.init)
    }

    // MARK: - The collection

    private func collection(_ request: ApiRequest, _ body: Data) throws(FakeRefusal) -> TestConnectorResponse {
        switch request.method {
        case .get, .head:
            let items = items
            let page = try FakePage(of: request.url, items.count, configuration)
            var headers = page.links
            headers["X-Total-Count"] = "\(items.count)"
            return .json(try written(Array(items[page.range])), 200, headers)
        case .post:
            return try create(request, body)
        default:
            throw refused(request.method, allowing: "GET, HEAD, POST")
        }
    }

    private func create(_ request: ApiRequest, _ body: Data) throws(FakeRefusal) -> TestConnectorResponse {
        let item = try update { (items) throws(FakeRefusal) in
            let taken = Set(items.map(id))
            let item = try configuration.read(Model.self, from: body) { fields in
                // An item without an id gets a new id.
                if fields[configuration.idField]?.isNull != false {
                    fields[configuration.idField] = Self.json(of: Self.next(outside: taken))
                }
            }
            guard !taken.contains(id(item)) else { throw FakeRefusal(409, "Item \(id(item)) already exists.") }
            items.append(item)
            return item
        }
        let location = path + (path.hasSuffix("/") ? "" : "/") + Self.encoded("\(id(item))")
        return .json(try written(item), 201, [.location: location])
    }

    /// The first unused number above the number of items, as an id; nil if the id type cannot be made from a number.
    private static func next(outside taken: Set<ID>) -> ID? {
        (taken.count + 1...2 * taken.count + 1).lazy.compactMap { ID("\($0)") }.first { !taken.contains($0) }
    }

    private static func json(of id: ID?) -> JSONValue? {
        guard let id, let data = try? JSONEncoder().encode([id]) else { return nil }
        return JSONValue(parsing: data)?[0]
    }

    private static func encoded(_ segment: String) -> String {
        segment.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(CharacterSet(charactersIn: "-._~")))
            ?? segment
    }

    // MARK: - An item

    private func item(_ id: ID, _ request: ApiRequest, _ body: Data) throws(FakeRefusal) -> TestConnectorResponse {
        switch request.method {
        case .get, .head:
            guard let item = self[id] else { throw missing("\(id)") }
            return .json(try written(item), 200, HTTPHeaders())
        case .put, .patch:
            return .json(try written(try change(id, body, keepsRest: request.method == .patch)), 200, HTTPHeaders())
        case .delete:
            let wasThere = update { items in
                let count = items.count
                items.removeAll { self.id($0) == id }
                return items.count < count
            }
            guard wasThere else { throw missing("\(id)") }
            return .status(204)
        default:
            throw refused(request.method, allowing: "GET, HEAD, PUT, PATCH, DELETE")
        }
    }

    /// - Parameter keepsRest: Whether members that the body does not name are kept (RFC 7396).
    private func change(_ id: ID, _ body: Data, keepsRest: Bool) throws(FakeRefusal) -> Model {
        try update { (items) throws(FakeRefusal) in
            guard let index = items.firstIndex(where: { self.id($0) == id }) else { throw missing("\(id)") }
            let old = keepsRest ? try configuration.json(of: items[index]) : .null
            let item = try configuration.read(Model.self, from: body) { fields in
                if keepsRest { fields = old.patched(by: .object(fields)).object ?? fields }
                if fields[configuration.idField]?.isNull != false { fields[configuration.idField] = Self.json(of: id) }
            }
            guard self.id(item) == id else {
                throw FakeRefusal(409, "The body has item \(self.id(item)), but the path has item \(id).")
            }
            items[index] = item
            return item
        }
    }

    private func written(_ value: some Encodable) throws(FakeRefusal) -> Data { try configuration.written(value) }

    private func missing(_ id: String) -> FakeRefusal { FakeRefusal(404, "There is no item \(id).") }

    private func refused(_ method: HTTPMethod, allowing allowed: String) -> FakeRefusal {
        FakeRefusal(405, "\(method) is not allowed here.", ["Allow": allowed])
    }
}
