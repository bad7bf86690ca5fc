/// Reads and checks a model file of kind `scorecard`.
struct ScorecardReader {
    let sink: DiagnosticSink

    static let keys = [
        "kind", "name", "version", "description", "method", "bias", "inputs", "provenance",
    ]

    /// The roots a model may read from; `insight` is what it makes.
    private static let roots = ["attributes", "device", "velocity"]

    /// Nil where anything is refused, with the reasons in the sink.
    func read(_ root: YAMLNode, source: PolicySource) -> ModelFile? {
        guard let fields = Fields(root, "a scorecard", keys: Self.keys, sink: sink) else {
            return nil
        }
        let header = Header(fields)
        let method = fields.choice("method", ScorecardDefinition.Method.self) ?? .points
        let bias = fields.double("bias") ?? 0
        if method == .points, let entry = fields.entry("bias") {
            sink.error(
                .invalidValue, "`bias` goes with `method: logistic` only", at: entry.keyRange)
        }
        let inputs = self.inputs(fields, method)
        let provenance = self.provenance(fields)
        guard let header, !sink.hasErrors else { return nil }
        return ModelFile(
            name: header.name, version: header.version, description: header.description,
            provenance: provenance,
            definition: .scorecard(
                ScorecardDefinition(method: method, bias: bias, inputs: inputs)),
            source: source)
    }

    private func provenance(_ fields: Fields) -> [ModelFile.ProvenanceEntry] {
        guard fields.required("provenance") != nil else { return [] }
        return fields.mapping("provenance").compactMap { entry in
            Scalars.string(entry.value, "`\(entry.key)`", sink).map {
                ModelFile.ProvenanceEntry(name: entry.key, text: $0)
            }
        }
    }

    private func inputs(
        _ fields: Fields, _ method: ScorecardDefinition.Method
    ) -> [ScorecardDefinition.Input] {
        guard let list = fields.required("inputs") else { return [] }
        let items = fields.items("inputs")
        if items.isEmpty, case .sequence = list.content {
            sink.error(.outOfRange, "`inputs` lists at least one input", at: list.range)
        }
        var taken: Set<String> = []
        return items.compactMap { item in
            guard
                let input = Fields(
                    item, "an input", keys: ["name", "weight", "required", "bands", "values"],
                    sink: sink)
            else { return nil }
            let name = self.name(input)
            if let name, !taken.insert(name).inserted, let node = input["name"] {
                sink.error(.duplicateName, "the input `\(name)` is given twice", at: node.range)
            }
            let weight = self.weight(input, method)
            let reading = self.reading(input, method)
            guard let name, let weight, let reading else { return nil }
            return ScorecardDefinition.Input(
                name: name, weight: weight, isRequired: input.bool("required") ?? false,
                reading: reading)
        }
    }

    private func name(_ input: Fields) -> String? {
        guard let name = input.requiredString("name"), let node = input["name"] else { return nil }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, Self.roots.contains(parts[0]),
            parts[0] != "device" || parts[1] == "value"
        else {
            sink.error(
                .invalidValue,
                "a model reads `device.value`, `attributes.…` or `velocity.…`, not "
                    + "`\(name)`", at: node.range)
            return nil
        }
        return Names.checkIdentifier(parts[1], "the input", at: node.range, sink) ? name : nil
    }

    private func weight(_ input: Fields, _ method: ScorecardDefinition.Method) -> Double? {
        guard let node = input.required("weight"), let weight = input.double("weight") else {
            return nil
        }
        guard method == .logistic || weight > 0 else {
            sink.error(.outOfRange, "`weight` must be above zero, not \(weight)", at: node.range)
            return nil
        }
        return weight
    }

    private func reading(
        _ input: Fields, _ method: ScorecardDefinition.Method
    ) -> ScorecardDefinition.Reading? {
        switch (input["bands"], input.entry("values")) {
        case (nil, nil): return .direct
        case (let bands?, nil): return self.bands(bands, input, method).map { .bands($0) }
        case (nil, let values?):
            return .values(
                Scalars.entries(values.value, "`values`", sink).compactMap { entry in
                    points(entry.value, "`\(entry.key)`", method).map {
                        ScorecardDefinition.ValuePoints(value: entry.key, points: $0)
                    }
                })
        case (_?, let values?):
            sink.error(
                .invalidValue, "an input has `bands` or `values`, not both", at: values.keyRange)
            return nil
        }
    }

    /// A first band without a lower limit, then limits that rise: no gap and no overlap can be said.
    private func bands(
        _ list: YAMLNode, _ input: Fields, _ method: ScorecardDefinition.Method
    ) -> [ScorecardDefinition.Band]? {
        var bands: [ScorecardDefinition.Band] = []
        let items = input.items("bands")
        for (index, item) in items.enumerated() {
            guard let band = Fields(item, "a band", keys: ["from", "points"], sink: sink),
                let node = band.required("points"), let points = points(node, "`points`", method)
            else { return nil }
            guard let fromNode = band["from"] else {
                guard index == 0 else {
                    sink.error(
                        .bandOrder, "only the first band has no `from`", at: band.headRange)
                    return nil
                }
                bands.append(.init(from: -.infinity, points: points))
                continue
            }
            guard let from = band.double("from") else { return nil }
            if index == 0 {
                sink.error(
                    .bandOrder, "numbers below \(from) fall into no band", at: fromNode.range,
                    help: "leave `from` out of the first band: it reaches down without end")
                return nil
            }
            if let last = bands.last, from <= last.from {
                sink.error(
                    .bandOrder, "`from` must be above that of the band before", at: fromNode.range)
                return nil
            }
            bands.append(.init(from: from, points: points))
        }
        if bands.isEmpty, case .sequence = list.content {
            sink.error(.outOfRange, "`bands` lists at least one band", at: list.range)
            return nil
        }
        return bands
    }

    private func points(
        _ node: YAMLNode, _ what: String, _ method: ScorecardDefinition.Method
    ) -> Double? {
        guard let points = Scalars.double(node, what, sink) else { return nil }
        guard method == .logistic || (0...1).contains(points) else {
            sink.error(.outOfRange, "points are 0 to 1, not \(points)", at: node.range)
            return nil
        }
        return points
    }
}
