// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A router with its functions.
final class RouterPlan {
    let name: String
    /// The tag of the operations; empty for operations without a tag.
    let tag: String
    let documentation: String?
    var functions: [FunctionPlan] = []
    /// The type of the backend's errors; nil if no operation describes them.
    var failure: TypeUse?
    /// The types of the backend's errors, in the order of the document.
    var failures: [(type: TypeUse, node: Node)] = []
    var functionNames: NameSet = ["cursor"]
    /// The router with all operations, if this router has only the selected ones; nil otherwise.
    private(set) var whole: RouterPlan?

    init(name: String, tag: String, documentation: String?) {
        self.name = name
        self.tag = tag
        self.documentation = documentation
    }

    /// The router with some of its operations; nil if it has none of them.
    ///
    /// It keeps the errors of all operations, so that the type of its errors does not depend on the selection.
    func part(_ isSelected: (Operation) -> Bool) -> RouterPlan? {
        let part = RouterPlan(name: name, tag: tag, documentation: documentation)
        part.functions = functions.filter { isSelected($0.operation) }
        part.failure = failure
        part.failures = failures
        part.whole = self
        return part.functions.isEmpty ? nil : part
    }
}

/// A function that makes the call of an operation.
struct FunctionPlan {
    struct Argument {
        let name: String
        var type: TypeUse
        let isOptional: Bool
        let documentation: String?
        let location: Location
    }

    enum Location {
        case parameter(Parameter)
        case body(ContentKind, mediaType: String)
    }

    /// The result of the call.
    enum Value {
        /// No value.
        case none
        case value(OptionalType)
        /// The function makes only a route. The caller reads the response as text, or as bytes.
        case text
        case bytes
    }

    let name: String
    let operation: Operation
    let value: Value
    /// Whether the values are the elements of a stream.
    var isStream = false
    var arguments: [Argument]
    /// The media type to accept, if it is not JSON.
    var accept: String?
    /// How to get from one page to the next; nil if the operation has no pages.
    var pages: PagePlan?
}

/// How to get from one page of a list to the next, as code.
struct PagePlan {
    /// The name of the static property of `NextPage`.
    let name: String
    /// The code before the closure, such as `.cursor("after")`.
    let head: String
    /// The code in the closure, which reads the cursor or the URL from a page.
    let closure: String
}
