import Glibc

exit(CommandTable.run(Array(CommandLine.arguments.dropFirst())))
