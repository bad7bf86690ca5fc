#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What simdjson made of a document: its tape and its string buffer.
/// Both stay valid until the next parse on the same thread.
typedef struct {
    const uint64_t *tape;
    const uint8_t *strings;
} discern_json_document;

/// Parses a whole document with this thread's parser. Returns 0, or simdjson's error code.
/// The bytes need no padding: simdjson copies them.
int discern_json_parse(
    const uint8_t *bytes, size_t length, size_t max_depth, discern_json_document *document);

#ifdef __cplusplus
}
#endif
