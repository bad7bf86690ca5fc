import JSON
import Ledger
import Storage

/// `discern audit checkpoint`: the newest signed checkpoint, and the key that it is signed with.
enum AuditCheckpointCommand {
    static var command: Command {
        Command(
            name: "audit checkpoint", summary: "Print a signed checkpoint of the ledger.",
            options: [
                .flag(
                    "show-key", "k",
                    "print the public key of checkpoints instead, to keep elsewhere"),
                DataAccess.option, CheckpointArguments.folder,
            ],
            discussion: """
                Where a server runs it makes a new one of all that is stored; else the latest that
                was exported is printed. The form is that of C2SP's tlog-checkpoint.
                """,
            run: run)
    }

    private static func run(_ arguments: Arguments) throws -> Int32 {
        let data = DataAccess.folder(arguments)
        if arguments.has("show-key") {
            let keys = CheckpointKeys(folder: data)
            guard let key = try keys.verifiers().first else {
                throw StorageError.file(
                    path: keys.publicPath, doing: "reading",
                    error: "there is no key yet; `discern serve` makes it")
            }
            Terminal.print("\(key)")
            return ExitStatus.fine
        }
        if let server = try RunningServer.find(data: data) {
            let answer = try ServerClient(server: server).post("/v1/audit/checkpoint", [:])
            Terminal.write(answer["checkpoint"]?.stringValue ?? "", to: 1)
            return ExitStatus.fine
        }
        let folder = CheckpointArguments.folder(arguments)
        guard let latest = try folder.latest() else {
            throw StorageError.file(
                path: folder.latestPath, doing: "reading", error: "there is no checkpoint yet")
        }
        Terminal.say("no server runs on \(data): this is the latest that was exported")
        Terminal.write(latest, to: 1)
        return ExitStatus.fine
    }
}
