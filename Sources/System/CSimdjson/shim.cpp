#include "CSimdjson.h"

#include <memory>
#include <simdjson.h>

namespace {
// A parser keeps its buffers between documents; one that has seen a large document
// is dropped afterwards, so that a thread does not hold megabytes for good.
constexpr size_t kept_capacity = 1 << 20;
thread_local std::unique_ptr<simdjson::dom::parser> parser;
}  // namespace

int discern_json_parse(
    const uint8_t *bytes, size_t length, size_t max_depth, discern_json_document *document) {
    if (!parser || parser->capacity() > kept_capacity || parser->max_depth() != max_depth) {
        parser = std::make_unique<simdjson::dom::parser>();
        if (auto error = parser->allocate(length < 4096 ? 4096 : length, max_depth)) {
            return static_cast<int>(error);
        }
    }
    auto result = parser->parse(bytes, length, true);
    if (result.error()) { return static_cast<int>(result.error()); }
    document->tape = parser->doc.tape.get();
    document->strings = parser->doc.string_buf.get();
    return 0;
}
