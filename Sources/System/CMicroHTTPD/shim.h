#pragma once
#include <microhttpd.h>

/* MHD_get_connection_info takes variable arguments, which Swift cannot call. */
static inline int discern_connection_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info == 0 ? -1 : info->connect_fd;
}

static inline void *discern_connection_context(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == 0 ? 0 : info->socket_context;
}
