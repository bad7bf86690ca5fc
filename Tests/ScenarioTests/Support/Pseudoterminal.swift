import Foundation
import Glibc

/// A terminal of so many columns, as a program sees it.
final class Pseudoterminal {
    enum Failure: Error { case open(Int32) }

    private let master: Int32
    /// Held open, so that the output stays readable when the program has ended.
    private let slave: Int32
    private let path: String

    init(columns: UInt16) throws {
        // What `posix_openpt`, `unlockpt` and `ptsname` do, which Swift's Glibc does not show.
        let unlock: UInt = 0x4004_5431
        let getNumber: UInt = 0x8004_5430
        var (locked, number): (Int32, Int32) = (0, 0)
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        guard master >= 0, ioctl(master, unlock, &locked) == 0,
            ioctl(master, getNumber, &number) == 0
        else { throw Failure.open(errno) }
        path = "/dev/pts/\(number)"
        slave = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        var size = winsize(ws_row: 50, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        guard slave >= 0, ioctl(master, UInt(TIOCSWINSZ), &size) == 0 else {
            throw Failure.open(errno)
        }
    }

    deinit {
        close(slave)
        close(master)
    }

    /// Runs a command in it: how it ended, and the lines that it showed, without colours.
    func run(_ arguments: [String]) throws -> (status: Int32, lines: [String]) {
        let process = try Spawned(arguments, output: path, errors: path)
        var bytes: [UInt8] = []
        let status = Wait.until {
            let status = process.poll()
            drain(into: &bytes)
            return status
        }
        guard let status else { throw Spawned.Failure.stillRunning }
        let text = String(decoding: bytes, as: UTF8.self)
            .replacing(#/\u{1B}\[[0-9;]*[A-Za-z]/#, with: "").replacing("\r\n", with: "\n")
        // What a line showed before it was written over is gone.
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map {
            String($0.split(separator: "\r", omittingEmptySubsequences: false).last ?? "")
        }
        return (status, lines)
    }

    private func drain(into bytes: inout [UInt8]) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(master, &buffer, buffer.count)
            guard count > 0 else { return }
            bytes += buffer[..<count]
        }
    }
}
