// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector
import Foundation

/// Shows progress: on a terminal as a bar that is redrawn, otherwise as one line per 10 %.
package final class ProgressLine {
    private let isTerminal: Bool
    private let write: (String) -> Void
    private var shownTenth = 0

    package init(isTerminal: Bool, write: @escaping (String) -> Void) {
        self.isTerminal = isTerminal
        self.write = write
    }

    /// Shows the progress of a transfer in bytes.
    package func show(_ progress: TransferProgress) {
        var text = Self.megabytes(Double(progress.byteCount))
        if let total = progress.totalByteCount { text += " of \(Self.megabytes(Double(total)))" }
        if isTerminal, let rate = progress.bytesPerSecond { text += ", \(Self.megabytes(rate))/s" }
        if isTerminal, let rest = progress.remainingTime, rest > .zero {
            let time = rest.formatted(.units(allowed: [.minutes, .seconds], width: .narrow).locale(Self.locale))
            text += ", \(time) to go"
        }
        show(progress.fractionCompleted ?? 0, text)
    }

    /// Shows the progress in rows.
    package func show(_ count: Int, of total: Int, _ what: String) {
        show(Double(count) / Double(max(total, 1)), "\(count) of \(total) \(what)")
    }

    /// Keeps the last output and moves to the next line.
    package func end() {
        if isTerminal { write("\n") }
        shownTenth = 0
    }

    private func show(_ fraction: Double, _ text: String) {
        let percent = Int(fraction * 100)
        if isTerminal {
            let done = Int(fraction * 30)
            let bar = String(repeating: "█", count: done) + String(repeating: "░", count: 30 - done)
            write("\r\u{1B}[2K\(bar) \(percent) %  \(text)")
        } else if percent / 10 > shownTenth {
            shownTenth = percent / 10
            write("\("\(percent)".leftPadded(to: 3)) %  \(text)\n")
        }
    }

    private static let locale = Locale(identifier: "en_US")

    private static func megabytes(_ byteCount: Double) -> String {
        "\((byteCount / 1_000_000).formatted(.number.precision(.fractionLength(1)).locale(locale))) MB"
    }
}

extension String {
    fileprivate func leftPadded(to width: Int) -> String {
        String(repeating: " ", count: max(0, width - count)) + self
    }
}
