/// `discern presets`: review policies that the program brings along.
enum PresetsCommand {
    static var list: Command {
        Command(
            name: "presets list", summary: "List the review policies that come with the program."
        ) { _ in
            Terminal.print(
                Layout.table(Preset.all.map { [$0.name, $0.summary] }, indent: 0)
                    .joined(separator: "\n"))
            return ExitStatus.fine
        }
    }

    static var show: Command {
        Command(
            name: "presets show", summary: "Print a preset, to start a policy from.",
            positional: "NAME",
            discussion: """
                  discern presets show gentle > Policies/reviews.yaml

                Names of reasons are the transcript app's: put your own in their place.
                `discern simulate` takes the names of presets as they are.
                """
        ) { arguments in
            guard let name = arguments.positional.first, arguments.positional.count == 1 else {
                throw UsageError("name one of \(Preset.names)")
            }
            guard let preset = Preset.all.first(where: { $0.name == name }) else {
                throw UsageError("there is no preset `\(name)`; there are \(Preset.names)")
            }
            Terminal.print(Array(preset.text.utf8))
            return ExitStatus.fine
        }
    }
}
