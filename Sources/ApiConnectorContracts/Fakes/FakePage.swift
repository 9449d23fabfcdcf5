// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

/// The page of a list that a request asks for, with links to the other pages.
struct FakePage {
    let range: Range<Int>
    let links: HTTPHeaders

    /// - Parameter count: The number of items in the whole list.
    init(of url: URL, _ count: Int, _ configuration: FakeConfiguration) throws(FakeRefusal) {
        let number = try Self.number(configuration.pageItem, in: url) ?? 1
        let size = try Self.number(configuration.pageSizeItem, in: url) ?? max(configuration.pageItemCount, 1)
        let lastNumber = max((count - 1) / size + 1, 1)
        let start = number > lastNumber ? count : (number - 1) * size
        range = start..<start + min(size, count - start)
        var links: [(number: Int, relation: String)] = [(1, "first")]
        if number > 1 { links.append((min(number - 1, lastNumber), "prev")) }
        if number < lastNumber { links.append((number + 1, "next")) }
        links.append((lastNumber, "last"))
        self.links = [
            .link: links.map { link in
                "<\(Self.target(url, configuration.pageItem, link.number))>; rel=\"\(link.relation)\""
            }.joined(separator: ", ")
        ]
    }

    private static func number(_ name: String, in url: URL) throws(FakeRefusal) -> Int? {
        guard let text = RequestMatcher.queryItems(of: url).last(where: { $0.name == name })?.value else { return nil }
        guard let number = Int(text), number > 0 else {
            throw FakeRefusal(400, "\(name) must be a number of at least 1, not \"\(text)\".")
        }
        return number
    }

    /// The same URL with another page's number.
    private static func target(_ url: URL, _ name: String, _ number: Int) -> String {
        guard var components = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return "" }
        let others = (components.queryItems ?? []).filter { $0.name != name }
        components.queryItems = others + [URLQueryItem(name: name, value: "\(number)")]
        components.percentEncodedQuery = components.percentEncodedQuery?.replacing("+", with: "%2B")
        return components.string ?? ""
    }
}
