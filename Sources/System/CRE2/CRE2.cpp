#include "CRE2.h"

#include <cstring>
#include <new>
#include <vector>

#include <re2/re2.h>

// Exceptions must not cross into Swift: RE2 throws none itself, allocation may.
struct cre2_regex {
    re2::RE2 regex;
    cre2_regex(re2::StringPiece pattern, const re2::RE2::Options &options)
        : regex(pattern, options) {}
};

static void copy_error(const std::string &text, char *error, size_t error_size) {
    if (error_size == 0) return;
    size_t length = text.size() < error_size - 1 ? text.size() : error_size - 1;
    std::memcpy(error, text.data(), length);
    error[length] = 0;
}

extern "C" cre2_regex *cre2_compile(const char *pattern, size_t length, int64_t max_memory,
                                    char *error, size_t error_size) {
    try {
        re2::RE2::Options options;
        options.set_log_errors(false);
        options.set_max_mem(max_memory);
        auto *result = new cre2_regex(re2::StringPiece(pattern, length), options);
        if (result->regex.ok()) return result;
        copy_error(result->regex.error(), error, error_size);
        delete result;
    } catch (const std::bad_alloc &) {
        copy_error("out of memory", error, error_size);
    }
    return nullptr;
}

extern "C" void cre2_free(cre2_regex *regex) { delete regex; }

extern "C" int cre2_groups(const cre2_regex *regex) {
    return regex->regex.NumberOfCapturingGroups();
}

extern "C" int cre2_program_size(const cre2_regex *regex) { return regex->regex.ProgramSize(); }

extern "C" bool cre2_matches(const cre2_regex *regex, const char *text, size_t length) {
    return regex->regex.Match(re2::StringPiece(text, length), 0, length, re2::RE2::UNANCHORED,
                              nullptr, 0);
}

extern "C" bool cre2_find(const cre2_regex *regex, const char *text, size_t length, size_t start,
                          ptrdiff_t *spans, int span_count) {
    try {
        std::vector<re2::StringPiece> groups(static_cast<size_t>(span_count));
        if (!regex->regex.Match(re2::StringPiece(text, length), start, length,
                                re2::RE2::UNANCHORED, groups.data(), span_count))
            return false;
        for (int i = 0; i < span_count; i++) {
            if (groups[i].data() == nullptr) {
                spans[2 * i] = spans[2 * i + 1] = -1;
            } else {
                spans[2 * i] = groups[i].data() - text;
                spans[2 * i + 1] = spans[2 * i] + static_cast<ptrdiff_t>(groups[i].size());
            }
        }
        return true;
    } catch (const std::bad_alloc &) {
        return false;
    }
}

extern "C" ptrdiff_t cre2_find_plain(const void *text, size_t length, const void *part,
                                     size_t part_length) {
    const void *found = memmem(text, length, part, part_length);
    return found == nullptr ? -1 : static_cast<const char *>(found) - static_cast<const char *>(text);
}
