// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

internal import Foundation

/// The files of one document: the first file, and the files in its folder that a `$ref` names.
final class DocumentSet {
    let root: Node
    private let folder: URL
    let limits: DocumentLimits
    private var files: [String: Node] = [:]
    private var anchors: [String: [String: Node]] = [:]
    private var valueCount = 0
    private let onProgress: (Stage) -> Void

    /// Reads a document's first file.
    init(
        contentsOf url: URL,
        limits: DocumentLimits = DocumentLimits(),
        onProgress: @escaping (Stage) -> Void = { _ in }
    ) throws(DocumentError) {
        self.onProgress = onProgress
        onProgress(.file(1))
        folder = url.deletingLastPathComponent().standardizedFileURL.resolvingSymlinksInPath()
        self.limits = limits
        let name = url.lastPathComponent
        // The caller may pass a symbolic link, but `load` accepts only regular files.
        root = try Self.load(url.resolvingSymlinksInPath(), named: name, limits, &valueCount)
        files[name] = root
    }

    /// Reads a document of one file from memory.
    init(_ data: Data, named name: String, limits: DocumentLimits = DocumentLimits()) throws(DocumentError) {
        folder = URL(filePath: "/nowhere/", directoryHint: .isDirectory)
        onProgress = { _ in }
        self.limits = limits
        root = try Self.parse(data, named: name, limits, &valueCount)
        files[name] = root
    }

    private static func load(
        _ url: URL,
        named name: String,
        _ limits: DocumentLimits,
        _ valueCount: inout Int
    ) throws(DocumentError) -> Node {
        let values = try? url.resourceValues(forKeys: [.fileSizeKey, .isRegularFileKey])
        guard let values, values.isRegularFile == true else { throw DocumentError("\(name): there is no such file") }
        guard values.fileSize ?? 0 <= limits.byteCount else {
            throw DocumentError(
                "\(name): the file has \(values.fileSize ?? 0) bytes, and the limit is \(limits.byteCount); "
                    + "--maximum-bytes sets another limit"
            )
        }
        guard let data = try? Data(contentsOf: url) else { throw DocumentError("\(name): the file cannot be read") }
        return try parse(data, named: name, limits, &valueCount)
    }

    private static func parse(
        _ data: Data,
        named name: String,
        _ limits: DocumentLimits,
        _ valueCount: inout Int
    ) throws(DocumentError) -> Node {
        guard data.count <= limits.byteCount else {
            throw DocumentError("\(name): the file has \(data.count) bytes, and the limit is \(limits.byteCount)")
        }
        var limits = limits
        limits.valueCount -= valueCount
        let first = data.first { ![0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains($0) }
        let isJSON = name.lowercased().hasSuffix(".json") || first == UInt8(ascii: "{")
        if isJSON {
            var reader = JSONReader(data, file: name, limits: limits)
            let node = try reader.read()
            valueCount += reader.valueCount
            return node
        }
        var reader = YAMLReader(file: name, limits: limits)
        let node = try reader.read(data)
        valueCount += reader.valueCount
        return node
    }

    /// The value that a `$ref` names, with further references followed.
    ///
    /// - Throws: ``DocumentError`` for a reference without a target, to a URL, to a file outside the folder, or to
    ///   itself through other references.
    func resolved(_ node: Node) throws(DocumentError) -> Node {
        var node = node
        var seen: Set<ObjectIdentifier> = []
        while let reference = node["$ref"]?.string {
            guard seen.insert(ObjectIdentifier(node)).inserted else {
                throw DocumentError(at: node, "the reference leads back to itself")
            }
            guard seen.count <= 100 else {
                throw DocumentError(at: node, "the reference leads through more than 100 others")
            }
            node = try target(of: reference, at: node)
        }
        return node
    }

    /// The value that one reference names.
    func target(of reference: String, at node: Node) throws(DocumentError) -> Node {
        let parts = reference.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let path = String(parts.first ?? "")
        let fragment = parts.count > 1 ? String(parts[1]) : ""
        let file = path.isEmpty ? node.root : try self.file(path, from: node)
        guard fragment.isEmpty || fragment.hasPrefix("/") else {
            if let anchored = anchors(of: file)[fragment] { return anchored }
            throw DocumentError(at: node, "there is no anchor \(quoted(fragment)) in \(file.file)")
        }
        let steps = fragment.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map { step in
            (step.removingPercentEncoding ?? String(step)).replacing("~1", with: "/").replacing("~0", with: "~")
        }
        if let found = file.descendant(steps) { return found }
        throw DocumentError(at: node, "the reference \(quoted(reference)) has no target")
    }

    /// The values of a file that have an `$anchor`, by its name.
    ///
    /// If a name repeats, the first value counts.
    private func anchors(of file: Node) -> [String: Node] {
        if let known = anchors[file.file] { return known }
        var found: [String: Node] = [:]
        var stack = [file]
        while let node = stack.popLast() {
            if let name = node["$anchor"]?.string, found[name] == nil { found[name] = node }
            stack += (node.members.map(\.value) + node.elements).reversed()
        }
        anchors[file.file] = found
        return found
    }

    private func file(_ path: String, from node: Node) throws(DocumentError) -> Node {
        guard !path.contains(":"), !path.hasPrefix("/"), !path.hasPrefix("\\") else {
            throw DocumentError(
                at: node,
                "the reference \(quoted(path)) does not lead to a file in the document's folder; copy the file there"
            )
        }
        var steps = node.root.file.split(separator: "/").dropLast().map(String.init)
        for step in (path.removingPercentEncoding ?? path).split(separator: "/") {
            switch step {
            case ".": break
            case "..":
                guard steps.popLast() != nil else {
                    throw DocumentError(at: node, "the reference \(quoted(path)) leads out of the document's folder")
                }
            default: steps.append(String(step))
            }
        }
        let name = steps.joined(separator: "/")
        if let known = files[name] { return known }
        guard files.count < limits.fileCount else {
            throw DocumentError(at: node, "the document has more than \(limits.fileCount) files")
        }
        let url = steps.reduce(folder) { $0.appending(component: $1) }
        // A symbolic link may lead elsewhere.
        let target = url.standardizedFileURL.resolvingSymlinksInPath().pathComponents
        guard target.starts(with: folder.pathComponents) else {
            throw DocumentError(at: node, "the reference \(quoted(path)) leads out of the document's folder")
        }
        onProgress(.file(files.count + 1))
        do {
            let loaded = try Self.load(url, named: name, limits, &valueCount)
            files[name] = loaded
            return loaded
        } catch {
            throw DocumentError(at: node, "the reference \(quoted(path)) cannot be followed: \(error)")
        }
    }
}
