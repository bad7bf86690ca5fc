import CSQLite

/// What an attacker or an operator can do to a closed store's file.
enum SQL {
    struct Failure: Error {
        let message: String
    }

    /// Runs statements; gives the last number they give.
    @discardableResult
    static func run(_ sql: String, in folder: TemporaryFolder) throws -> Int64 {
        var handle: OpaquePointer?
        defer { sqlite3_close(handle) }
        guard sqlite3_open(folder.path + "/discern.db", &handle) == SQLITE_OK else {
            throw Failure(message: "open")
        }
        var number: Int64 = 0
        let status = withUnsafeMutablePointer(to: &number) { number in
            sqlite3_exec(
                handle, sql,
                { context, _, values, _ in
                    if let text = values?[0] {
                        context?.assumingMemoryBound(to: Int64.self).pointee =
                            Int64(String(cString: text)) ?? 0
                    }
                    return 0
                }, number, nil)
        }
        guard status == SQLITE_OK else {
            throw Failure(message: String(cString: sqlite3_errmsg(handle)))
        }
        return number
    }
}
