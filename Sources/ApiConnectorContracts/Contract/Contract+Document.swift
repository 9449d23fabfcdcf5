// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

extension Contract {
    /// The violations in some exchanges, each reported once per place; empty if the contract is a recording.
    func issues(of exchanges: [ScriptExchange]) -> [TestIssue] {
        guard let document else { return [] }
        var known: Set<String> = []
        return exchanges.flatMap { exchange in
            document.violations(of: exchange).compactMap { violation in
                let text = "\(exchange.sent.request): \(violation) in \(document.name)."
                guard known.insert("\(text)\(exchange.place)").inserted else { return nil }
                return TestIssue(kind: .violated, description: text, place: exchange.place)
            }
        }
    }
}

extension OpenAPIDocument {
    func violations(of exchange: ScriptExchange) -> [ContractViolation] {
        switch operations(for: exchange.sent.request) {
        case .failure(let violation):
            return reported([violation])
        case .success(let candidates):
            var first: [ContractViolation]?
            for candidate in candidates {
                let found = violations(of: exchange, candidate)
                if found.isEmpty { return [] }
                if first == nil { first = found }
            }
            return first ?? []
        }
    }

    private func violations(of exchange: ScriptExchange, _ candidate: Candidate) -> [ContractViolation] {
        let found = violations(of: exchange.sent, candidate)
        guard case .response(let status, let headers, _)? = exchange.response?.answer else { return found }
        let body = exchange.response?.canned?.1
        return found + reported(ResponseCheck(candidate.operation, self).violations(status, headers, body))
    }

    /// The violations of a request, as a request for one operation.
    func violations(of sent: RecordedRequest, _ candidate: Candidate) -> [ContractViolation] {
        reported(RequestCheck(sent, candidate.operation, self).violations(pathValues: candidate.pathValues))
    }

    /// The violations that are not ignored.
    private func reported(_ violations: [ContractViolation]) -> [ContractViolation] {
        violations.filter { !ignored.containsPointer($0.pointer) }
    }
}
