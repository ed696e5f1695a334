/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole messages with descriptors on UNIX SOCK_SEQPACKET sockets.
 */
#ifndef PKB_HARNESS_MESSAGE_H
#define PKB_HARNESS_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

enum { PKB_MESSAGE_BYTES = 192 * 1024, PKB_MESSAGE_FDS = 160 };

typedef struct pkb_message {
    char *data; /* PKB_MESSAGE_BYTES + 1, NUL-terminated after `bytes` */
    size_t bytes;
    int fds[PKB_MESSAGE_FDS]; /* owned by the message until taken (set to -1) */
    size_t fd_count;
    pid_t pid; /* sender as the kernel says it (SO_PASSCRED), 0 if not asked for */
    uid_t uid;
} pkb_message;

pkb_code pkb_message_create(pkb_message **out, pkb_error *err);
void pkb_message_free(pkb_message *message); /* closes descriptors that nobody took */

/* Both ends close-on-exec. `with_credentials` sets SO_PASSCRED on the first. */
pkb_code pkb_socket_pair(int out[2], int with_credentials, pkb_error *err);
pkb_code pkb_socket_listen(int *out, const char *path, pkb_error *err);
/* Accepts a peer of our own user (SO_PEERCRED); anybody else is dropped and waiting goes on. */
pkb_code pkb_socket_accept(int *out, int listener, uint64_t timeout_ns, pid_t *peer_pid,
                           pkb_error *err);
/* Whether a message, a peer or the end is there, so that nobody would wait; false for -1. */
bool pkb_socket_is_readable(int fd);
pkb_code pkb_socket_connect(int *out, const char *path, uint64_t timeout_ns, pkb_error *err);

pkb_code pkb_message_send(int socket_fd, const void *data, size_t bytes, const int *fds,
                          size_t fd_count, pkb_error *err);
/* PKB_ERR_TIMEOUT after timeout_ns; PKB_ERR_CHILD when the other side is gone. */
pkb_code pkb_message_receive(int socket_fd, pkb_message *message, uint64_t timeout_ns,
                             pkb_error *err);

#endif
