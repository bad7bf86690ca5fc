#include "connection.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

void connection_open(struct connection *connection, const struct options *options, int epoll) {
    int descriptor = socket(AF_INET, SOCK_STREAM, 0);
    if (descriptor < 0) die("socket", strerror(errno));
    if (connect(descriptor, (const struct sockaddr *)&options->address,
                sizeof options->address) != 0)
        die("connect", strerror(errno));
    int one = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) != 0)
        die("epoll_ctl", strerror(errno));
    connection->socket = descriptor;
    connection->busy = 0;
}

void connection_reopen(struct connection *connection, const struct options *options, int epoll) {
    close(connection->socket);
    connection_open(connection, options, epoll);
}

/* Requests are far smaller than a socket's buffer: one blocking send takes a whole one. */
int connection_send(struct connection *connection) {
    connection->busy = 1;
    connection->received = 0;
    ssize_t sent =
        send(connection->socket, connection->out, connection->length, MSG_NOSIGNAL);
    return sent == (ssize_t)connection->length;
}

static int head(struct connection *connection, size_t *head_length) {
    char *end = memmem(connection->in, connection->received, "\r\n\r\n", 4);
    if (end == NULL) return 0;
    *head_length = (size_t)(end - connection->in) + 4;
    if (sscanf(connection->in, "HTTP/1.1 %d", &connection->status) != 1) return -1;
    for (char *line = connection->in; line < end;) {
        line = memchr(line, '\n', (size_t)(end - line));
        if (line == NULL) break;
        line++;
        if (strncasecmp(line, "Content-Length:", 15) == 0) {
            connection->body_length = strtoul(line + 15, NULL, 10);
            return 1;
        }
    }
    return -1; /* an answer without a length is none that this server should give */
}

enum received connection_receive(struct connection *connection) {
    ssize_t got = recv(connection->socket, connection->in + connection->received,
                       sizeof connection->in - 1 - connection->received, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return PARTIAL;
    if (got <= 0 || !connection->busy) return BROKEN;
    connection->received += (size_t)got;
    connection->in[connection->received] = 0;
    size_t head_length;
    int found = head(connection, &head_length);
    if (found < 0) return BROKEN;
    if (found == 0) return connection->received + 1 < sizeof connection->in ? PARTIAL : BROKEN;
    if (head_length + connection->body_length >= sizeof connection->in) return BROKEN;
    if (connection->received < head_length + connection->body_length) return PARTIAL;
    connection->body = connection->in + head_length;
    connection->busy = 0;
    return COMPLETE;
}
