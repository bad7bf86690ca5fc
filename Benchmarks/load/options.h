/* What the load is asked to do, and how a request is written. */
#pragma once
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

struct options {
    struct sockaddr_in address;
    const char *key;     /* bearer key, or NULL for no Authorization header */
    size_t connections;  /* default 64 */
    uint64_t subjects;   /* default 1000 */
    double seconds;      /* measured, default 5 */
    double warmup;       /* before the measurement, default 1 */
    double rate;         /* requests per second in all; 0 is a closed loop */
    uint64_t batch;      /* evaluations in a request; 0 sends each by itself */
    int authorise;       /* authorise every subject, and that is all */
    int fresh;           /* ever new subjects, each with all that one does */
};

struct options options_parse(int count, char **arguments);

/* Writes a whole HTTP request into `out`; answers its length. */
size_t render(const struct options *options, const char *method, const char *path,
              const char *body, size_t length, char *out, size_t size);

_Noreturn void die(const char *what, const char *why);
