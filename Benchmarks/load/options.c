#include "options.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void die(const char *what, const char *why) {
    fprintf(stderr, "load: %s: %s\n", what, why);
    exit(2);
}

static const char usage[] =
    "load http://ADDRESS:PORT [--key KEY] [--connections N] [--subjects N] [--seconds S]\n"
    "     [--warmup S] [--rate R] [--batch N]\n"
    "     [--authorise] [--fresh]";

static double number(const char *name, const char *text, double least) {
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != 0 || !(value >= least && value <= 1e7)) die(name, text);
    return value;
}

static struct sockaddr_in address(const char *url) {
    struct sockaddr_in address = {.sin_family = AF_INET};
    char host[64];
    unsigned port;
    if (sscanf(url, "http://%63[0-9.]:%u", host, &port) != 2 || port == 0 || port > 65535 ||
        inet_pton(AF_INET, host, &address.sin_addr) != 1)
        die("not http://ADDRESS:PORT", url);
    address.sin_port = htons((uint16_t)port);
    return address;
}

struct options options_parse(int count, char **arguments) {
    struct options options = {.connections = 64, .subjects = 1000, .seconds = 5, .warmup = 1};
    if (count < 2) die("usage", usage);
    options.address = address(arguments[1]);
    for (int i = 2; i < count; i++) {
        const char *name = arguments[i];
        if (strcmp(name, "--authorise") == 0) {
            options.authorise = 1;
            continue;
        }
        if (strcmp(name, "--fresh") == 0) {
            options.fresh = 1;
            continue;
        }
        if (i + 1 == count) die("usage", usage);
        const char *text = arguments[++i];
        if (strcmp(name, "--key") == 0) options.key = text;
        else if (strcmp(name, "--connections") == 0)
            options.connections = (size_t)number(name, text, 1);
        else if (strcmp(name, "--subjects") == 0)
            options.subjects = (uint64_t)number(name, text, 1);
        else if (strcmp(name, "--seconds") == 0) options.seconds = number(name, text, 0.1);
        else if (strcmp(name, "--warmup") == 0) options.warmup = number(name, text, 0);
        else if (strcmp(name, "--rate") == 0) options.rate = number(name, text, 1);
        else if (strcmp(name, "--batch") == 0)
            options.batch = (uint64_t)number(name, text, 1);
        else die("usage", usage);
    }
    if (options.batch > 100) die("--batch", "at most 100");
    return options;
}

size_t render(const struct options *options, const char *method, const char *path,
              const char *body, size_t length, char *out, size_t size) {
    int written =
        snprintf(out, size,
                 "%s %s HTTP/1.1\r\nHost: load\r\n%s%s%sContent-Type: application/json\r\n"
                 "Content-Length: %zu\r\n\r\n%.*s",
                 method, path, options->key ? "Authorization: Bearer " : "",
                 options->key ? options->key : "", options->key ? "\r\n" : "", length, (int)length,
                 body);
    if (written < 0 || (size_t)written >= size) die("request", "too long");
    return (size_t)written;
}
