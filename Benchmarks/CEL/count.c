/* Counts what a program takes from the heap. Loaded before it with LD_PRELOAD; whoever wants to
 * know looks the two functions up with dlsym. */
#include <dlfcn.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static atomic_long allocations, live;

static void *taken(void *block) {
    if (block) {
        atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&live, (long)malloc_usable_size(block), memory_order_relaxed);
    }
    return block;
}

static void given(void *block) {
    if (block)
        atomic_fetch_sub_explicit(&live, (long)malloc_usable_size(block), memory_order_relaxed);
}

long count_allocations(void) { return atomic_load(&allocations); }
long count_live_bytes(void) { return atomic_load(&live); }

void *malloc(size_t size) { return taken(__libc_malloc(size)); }
void *calloc(size_t count, size_t size) { return taken(__libc_calloc(count, size)); }
void *memalign(size_t alignment, size_t size) { return taken(__libc_memalign(alignment, size)); }
void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **block, size_t alignment, size_t size) {
    void *got = memalign(alignment, size);
    if (!got) return 12; /* ENOMEM */
    *block = got;
    return 0;
}

void *realloc(void *block, size_t size) {
    given(block);
    return taken(__libc_realloc(block, size));
}

void free(void *block) {
    given(block);
    __libc_free(block);
}
