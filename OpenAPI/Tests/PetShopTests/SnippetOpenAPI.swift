// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Foundation
import PetShop
import Testing

// The code of the guide "From an OpenAPI document".

let pets: NetworkConnector<some DataRequestType, PetsRouter> = NetworkConnector(
    environment: .production,
    provider: SystemProvider().authenticating(by: PetShopCredentials.token("secret"))
)

func names(over pets: NetworkConnector<some DataRequestType, PetsRouter>) async throws -> [String] {
    let page = try await pets.value(.listPets(kind: [.cat, .dog], limit: 20))
    return page.items.map(\.name)
}

func uses(of pets: NetworkConnector<some DataRequestType, PetsRouter>) async throws {
    let tom = try await pets.value(.addPet(body: NewPet(name: "Tom", kind: .cat)))
    try await pets.send(.removePet(petID: tom.id))
    let photo = try await pets.data(at: .getPhoto(petID: tom.id))
    _ = photo
}

func allNames(over pets: NetworkConnector<some DataRequestType, PetsRouter>) async throws -> [String] {
    var names: [String] = []
    let pages = pets.pages(from: .listPets(limit: 20), next: .listPets)
    for try await page in pages {
        names += page.items.map(\.name)
    }
    return names
}

func parcels(over orders: NetworkConnector<some DataRequestType, OrdersRouter>) async throws -> [String] {
    var parcels: [String] = []
    for try await event in orders.stream(.watchOrders()) {
        switch event {
        case .orderPlaced: break
        case .orderShipped(let shipped): parcels.append(shipped.parcel)
        case .other: break
        }
    }
    return parcels
}

func reason(over pets: NetworkConnector<some DataRequestType, PetsRouter>) async -> String {
    switch await pets.outcome(.getPet(petID: 7)) {
    case .success(let pet): "\(pet.name) is for sale."
    case .backendFailure(let problem, _): problem.message
    case .failure(let error): error.localizedDescription
    }
}

@Test func namesAreThoseOfThePage() async throws {
    let canned = NetworkConnector(
        environment: .production,
        provider: TestConnector { _ in
            .json([
                "items": [
                    ["id": 1, "name": "Tom", "kind": "cat", "added_at": "2026-02-28T10:00:00.5Z"],
                    ["id": 2, "name": "Rex", "kind": "ferret", "added_at": "2026-02-28T10:00:00Z"],
                ]
            ])
        },
        router: PetsRouter.self
    )

    #expect(try await names(over: canned) == ["Tom", "Rex"])
}
