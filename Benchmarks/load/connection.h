/* One keep-alive connection with at most one request under way. */
#pragma once
#include "options.h"

enum received { PARTIAL, COMPLETE, BROKEN };

struct connection {
    int socket;
    int busy;         /* a request is under way */
    uint64_t subject; /* with --fresh: whose requests it sends, and the next of them */
    int step;
    int64_t due;      /* nanoseconds; when that request was to start */
    char out[1 << 16];
    size_t length;    /* of the request in `out` */
    char in[1 << 19]; /* room for the answer to a batch */
    size_t received;
    int status;       /* of the last complete answer */
    const char *body; /* of the last complete answer, inside `in` */
    size_t body_length;
};

void connection_open(struct connection *connection, const struct options *options, int epoll);
void connection_reopen(struct connection *connection, const struct options *options, int epoll);
int connection_send(struct connection *connection);
enum received connection_receive(struct connection *connection);
