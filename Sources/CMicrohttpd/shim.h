#pragma once
#include <microhttpd.h>

// MHD_start_daemon is variadic, which Swift cannot call: the options go as an array instead.
static inline struct MHD_Daemon *postercache_mhd_start(
    unsigned int flags, uint16_t port, MHD_AccessHandlerCallback handler, void *handler_context,
    const struct MHD_OptionItem *options) {
  return MHD_start_daemon(
      flags, port, NULL, NULL, handler, handler_context, MHD_OPTION_ARRAY, options, MHD_OPTION_END);
}
