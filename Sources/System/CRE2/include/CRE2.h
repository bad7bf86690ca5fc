#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A compiled regular expression. Matching is linear in the text, whatever the expression.
typedef struct cre2_regex cre2_regex;

/// Compiles `pattern` (RE2 syntax, UTF-8). Returns NULL where it cannot be compiled, with the
/// reason in `error` (always ended by a zero byte, cut to `error_size`). Free with `cre2_free`.
cre2_regex *cre2_compile(const char *pattern, size_t length, int64_t max_memory, char *error,
                         size_t error_size);

void cre2_free(cre2_regex *regex);

/// The number of capturing groups.
int cre2_groups(const cre2_regex *regex);

/// The size of the compiled program in RE2's instructions: what compiling and matching cost.
int cre2_program_size(const cre2_regex *regex);

/// Whether the expression matches anywhere in the text.
bool cre2_matches(const cre2_regex *regex, const char *text, size_t length);

/// Finds the first match at or after `start`. `spans` receives start and end of the match and of
/// each group (-1 and -1 for one that took no part), for at most `span_count` pairs.
bool cre2_find(const cre2_regex *regex, const char *text, size_t length, size_t start,
               ptrdiff_t *spans, int span_count);

/// The first place of `part` in `text`, both plain bytes, or -1. Linear.
ptrdiff_t cre2_find_plain(const void *text, size_t length, const void *part, size_t part_length);

#ifdef __cplusplus
}
#endif
