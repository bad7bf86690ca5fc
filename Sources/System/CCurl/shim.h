#pragma once
#include <curl/curl.h>

// curl_easy_setopt takes its value as a variadic argument, which Swift cannot pass.

static inline CURLcode discern_curl_set_text(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode discern_curl_set_number(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode discern_curl_set_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}

typedef size_t (*discern_curl_write)(char *data, size_t size, size_t count, void *context);

static inline CURLcode discern_curl_set_write(
    CURL *handle, discern_curl_write function, void *context) {
    CURLcode status = curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, function);
    return status == CURLE_OK ? curl_easy_setopt(handle, CURLOPT_WRITEDATA, context) : status;
}

static inline CURLcode discern_curl_status(CURL *handle, long *status) {
    return curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, status);
}
