import Glibc

print("discern")
