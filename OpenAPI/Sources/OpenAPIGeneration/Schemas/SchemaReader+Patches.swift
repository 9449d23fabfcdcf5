// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// The types of merge patches (RFC 7396). A member that is null is deleted, so each member that is not required can be
// null, also where its schema does not allow null. This includes the members of inner objects, but not of the objects
// in arrays, because a patch replaces an array as a whole.

extension SchemaReader {
    /// The type of a merge patch for values of a type.
    ///
    /// An inline schema of the request body is changed. A component gets its own type, because other bodies use it too.
    func mergePatch(of type: TypeUse, for router: RouterPlan) -> TypeUse {
        switch type {
        case .dictionary(let value): return .dictionary(deletable(value, router))
        case .declared(let declaration):
            if let known = patches[ObjectIdentifier(declaration)] { return .declared(known) }
            if declaration.union != nil {
                warnings.add(declaration.node, "a merge patch cannot delete the members of these alternatives")
            }
            guard let structure = declaration.structure else { return type }
            var patch = declaration
            if declaration.outermost.owner == nil {
                patch = Declaration(declaration.node, named: declaration.wantedPath + "Patch", in: nil)
                patch.owner = router.name
                patch.isCopy = true
                add(patch)
            }
            patches[ObjectIdentifier(declaration)] = patch
            patches[ObjectIdentifier(patch)] = patch
            patch.kind = .structure(mergePatch(of: structure, router))
            return .declared(patch)
        default: return type
        }
    }

    private func mergePatch(of structure: Structure, _ router: RouterPlan) -> Structure {
        var structure = structure
        for index in structure.properties.indices {
            let property = structure.properties[index]
            if property.isRequired {
                structure.properties[index].type.type = mergePatch(of: property.type.type, for: router)
            } else {
                structure.properties[index].type = deletable(property.type, router)
            }
        }
        structure.additional = structure.additional.map { deletable($0, router) }
        return structure
    }

    private func deletable(_ type: OptionalType, _ router: RouterPlan) -> OptionalType {
        // Any JSON already includes null.
        OptionalType(
            type: mergePatch(of: type.type, for: router),
            isNullable: type.isNullable || !type.type.isJSON
        )
    }
}

extension Declaration {
    /// The preferred names of the enclosing types and of this type as one name.
    fileprivate var wantedPath: String { (parent?.wantedPath ?? "") + wantedName }
}
