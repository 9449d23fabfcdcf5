// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

internal import Foundation

/// Runs recursive code on a thread whose stack is large enough for a deeply nested document.
///
/// A document's references can be nested as deep as ``DocumentLimits/schemaDepth``. In a debug build, each level takes
/// about 10 KB of stack. On Apple's systems, the stack of a secondary thread has only 512 KB.
enum LargeStack {
    private static let byteCount = 512 << 20

    static func run<Value>(_ body: @escaping () throws(DocumentError) -> Value) throws(DocumentError) -> Value {
        // The calling thread waits, so the two threads never use these variables at the same time.
        nonisolated(unsafe) var result: Swift.Result<Value, DocumentError>?
        nonisolated(unsafe) let body = body
        let isDone = DispatchSemaphore(value: 0)
        let thread = Thread {
            do throws(DocumentError) {
                result = .success(try body())
            } catch {
                result = .failure(error)
            }
            isDone.signal()
        }
        thread.stackSize = byteCount
        thread.start()
        isDone.wait()
        guard let result else { throw DocumentError("the document could not be read") }
        return try result.get()
    }
}
