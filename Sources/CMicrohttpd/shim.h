#pragma once
#include <microhttpd.h>

// MHD_start_daemon is variadic, which Swift cannot call: the options go as an array instead.
static inline struct MHD_Daemon *postercache_mhd_start(
    unsigned int flags, uint16_t port, MHD_AccessHandlerCallback handler, void *handler_context,
    const struct MHD_OptionItem *options) {
  return MHD_start_daemon(
      flags, port, NULL, NULL, handler, handler_context, MHD_OPTION_ARRAY, options, MHD_OPTION_END);
}

// MHD_get_connection_info is variadic: what the connection notifier stored for the connection.
static inline void *postercache_mhd_socket_context(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info ? info->socket_context : NULL;
}

// MHD_set_response_options is variadic: a body of unknown length ends with the connection instead
// of being chunked.
static inline enum MHD_Result postercache_mhd_close_after(struct MHD_Response *response) {
  return MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
}

// Callbacks are stored in option items as integers, a cast that Swift has no word for.
static inline struct MHD_OptionItem postercache_mhd_when_completed(
    MHD_RequestCompletedCallback callback, void *context) {
  return (struct MHD_OptionItem){MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)callback, context};
}
static inline struct MHD_OptionItem postercache_mhd_when_connected(
    MHD_NotifyConnectionCallback callback, void *context) {
  return (struct MHD_OptionItem){MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)callback, context};
}
