#pragma once
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
// The plain SHA-256 functions are marked as deprecated in OpenSSL 3, in favour of EVP, which
// takes memory and a look-up for every hash: several times what hashing a small message costs.
// A request needs about ten hashes, so these stay in use here; they cannot fail.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

static inline void discern_sha256_init(SHA256_CTX *context) { SHA256_Init(context); }

static inline void discern_sha256_update(SHA256_CTX *context, const void *bytes, size_t count) {
    SHA256_Update(context, bytes, count);
}

static inline void discern_sha256_final(unsigned char *digest, SHA256_CTX *context) {
    SHA256_Final(digest, context);
}
