// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension Contract {
    /// The violations in some exchanges, each reported once per place; empty if the contract is a recording.
    func issues(of exchanges: [ScriptExchange]) -> [TestIssue] {
        guard let document else { return [] }
        var known: Set<String> = []
        return exchanges.flatMap { exchange in
            document.violations(of: exchange).filter { !isIgnored(pointer: $0.pointer) }.compactMap { violation in
                let text = "\(exchange.sent.request): \(violation) in \(document.name)."
                guard known.insert("\(text)\(exchange.place)").inserted else { return nil }
                return TestIssue(kind: .violated, description: text, place: exchange.place)
            }
        }
    }
}

extension OpenAPIDocument {
    func violations(of exchange: ScriptExchange) -> [ContractViolation] {
        switch operation(for: exchange.sent.request) {
        case .failure(let violation):
            return [violation]
        case .success(let (operation, pathValues)):
            let found = RequestCheck(exchange.sent, operation, self).violations(pathValues: pathValues)
            guard case .response(let status, let headers, _)? = exchange.response?.answer else { return found }
            let body = exchange.response?.canned?.1
            return found + ResponseCheck(operation, self).violations(status, headers, body)
        }
    }
}
