import CMalloc
import Glibc

// What is large goes back to the system when it is freed. By itself the C library learns from the first
// large piece to keep those of its size.
mallopt(M_MMAP_THRESHOLD, 1 << 20)

exit(CommandTable.run(Array(CommandLine.arguments.dropFirst())))
