/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages with descriptors; see message.h. The other side may be hostile: a packet that is cut
 * off, or carries more than fits, is an error and its descriptors are closed.
 */
#include "harness/sandbox/message.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"

enum {
    LISTEN_BACKLOG = 128,
    CONNECT_RETRY_MS = 2,
    CONTROL_BYTES = CMSG_SPACE(PKB_MESSAGE_FDS * sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))
};

pkb_code pkb_message_create(pkb_message **out, pkb_error *err)
{
    pkb_message *message = calloc(1, sizeof *message);
    char *data = malloc(PKB_MESSAGE_BYTES + 1);

    if (message == NULL || data == NULL) {
        free(message);
        free(data);
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for a message");
    }
    data[0] = '\0';
    message->data = data;
    *out = message;
    return PKB_OK;
}

static void reset(pkb_message *message)
{
    for (size_t i = 0; i < message->fd_count; i++) {
        if (message->fds[i] >= 0)
            close(message->fds[i]);
    }
    message->fd_count = 0;
    message->bytes = 0;
    message->data[0] = '\0';
    message->pid = 0;
    message->uid = 0;
}

void pkb_message_free(pkb_message *message)
{
    if (message == NULL)
        return;
    reset(message);
    free(message->data);
    free(message);
}

/* ---- sockets ---- */

pkb_code pkb_socket_pair(int out[2], int with_credentials, pkb_error *err)
{
    const int on = 1;
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return pkb_error_set_errno(err, PKB_ERR_IO, "cannot make a socket pair");
    if (with_credentials && setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on) < 0) {
        pkb_code rc = pkb_error_set_errno(err, PKB_ERR_IO, "cannot ask for credentials");
        close(pair[0]);
        close(pair[1]);
        return rc;
    }
    out[0] = pair[0];
    out[1] = pair[1];
    return PKB_OK;
}

static pkb_code socket_for(int *out, struct sockaddr_un *address, const char *path, pkb_error *err)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address->sun_path)
        return pkb_error_set(err, PKB_ERR_USAGE, 0,
                             "socket path %s is longer than %zu bytes; set PKBENCH_TMPDIR", path,
                             sizeof address->sun_path - 1);
    memcpy(address->sun_path, path, strlen(path));
    *out = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (*out < 0)
        return pkb_error_set_errno(err, PKB_ERR_IO, "cannot make a socket");
    return PKB_OK;
}

pkb_code pkb_socket_listen(int *out, const char *path, pkb_error *err)
{
    struct sockaddr_un address;
    int fd = -1;
    pkb_code rc = socket_for(&fd, &address, path, err);

    if (rc != PKB_OK)
        return rc;
    if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0 ||
        listen(fd, LISTEN_BACKLOG) < 0) {
        rc = pkb_error_set_errno(err, PKB_ERR_IO, "cannot listen at %s", path);
        close(fd);
        return rc;
    }
    *out = fd;
    return PKB_OK;
}

/* Whether the other side of a connected socket runs as this user. */
static bool is_own_user(int fd, pid_t *pid)
{
    struct ucred peer;
    socklen_t bytes = sizeof peer;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) < 0 || peer.uid != geteuid())
        return false;
    if (pid != NULL)
        *pid = peer.pid;
    return true;
}

/* 1 when `fd` is readable (or closed), 0 at the deadline, -1 with errno. */
static int wait_readable(int fd, uint64_t deadline_ns)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

    for (;;) {
        int ready = poll(&poll_fd, 1, pkb_clock_left_ms(deadline_ns));
        if (ready > 0 || (ready < 0 && errno != EINTR))
            return ready;
        if (ready == 0 && pkb_clock_left_ns(deadline_ns) == 0)
            return 0;
    }
}

static uint64_t deadline_after(uint64_t timeout_ns)
{
    uint64_t now_ns = pkb_clock_now_ns();
    return timeout_ns > INT64_MAX - now_ns ? INT64_MAX : now_ns + timeout_ns;
}

pkb_code pkb_socket_accept(int *out, int listener, uint64_t timeout_ns, pid_t *peer_pid,
                           pkb_error *err)
{
    const uint64_t deadline_ns = deadline_after(timeout_ns);

    for (;;) {
        int ready = wait_readable(listener, deadline_ns);
        if (ready < 0)
            return pkb_error_set_errno(err, PKB_ERR_IO, "cannot wait for a connection");
        if (ready == 0)
            return pkb_error_set(err, PKB_ERR_TIMEOUT, 0, "nobody connected in time");
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0) {
            if (errno == EINTR || errno == ECONNABORTED || errno == EAGAIN)
                continue;
            return pkb_error_set_errno(err, PKB_ERR_IO, "cannot accept a connection");
        }
        if (is_own_user(fd, peer_pid)) {
            *out = fd;
            return PKB_OK;
        }
        close(fd);
    }
}

bool pkb_socket_is_readable(int fd)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    return poll(&poll_fd, 1, 0) > 0;
}

pkb_code pkb_socket_connect(int *out, const char *path, uint64_t timeout_ns, pkb_error *err)
{
    const uint64_t deadline_ns = deadline_after(timeout_ns);
    struct sockaddr_un address;
    int fd = -1;
    pkb_code rc = socket_for(&fd, &address, path, err);

    if (rc != PKB_OK)
        return rc;
    while (connect(fd, (struct sockaddr *)&address, sizeof address) < 0) {
        /* The listener may not be there yet, or be busy. */
        bool is_early =
            errno == ENOENT || errno == ECONNREFUSED || errno == EAGAIN || errno == EINTR;
        if (!is_early || pkb_clock_left_ns(deadline_ns) == 0) {
            rc = pkb_error_set_errno(err, is_early ? PKB_ERR_TIMEOUT : PKB_ERR_IO,
                                     "cannot connect to %s", path);
            goto cleanup;
        }
        pkb_clock_sleep_ns(CONNECT_RETRY_MS * PKB_NS_PER_MS);
    }
    if (!is_own_user(fd, NULL)) {
        rc = pkb_error_set(err, PKB_ERR_IO, 0, "another user listens at %s", path);
        goto cleanup;
    }
    *out = fd;
    fd = -1;
cleanup:
    if (fd >= 0)
        close(fd);
    return rc;
}

/* ---- messages ---- */

pkb_code pkb_message_send(int socket_fd, const void *data, size_t bytes, const int *fds,
                          size_t fd_count, pkb_error *err)
{
    union {
        char bytes[CONTROL_BYTES];
        struct cmsghdr align;
    } control = {.bytes = {0}};
    struct iovec part = {.iov_base = (void *)(uintptr_t)data, .iov_len = bytes};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};

    if (bytes == 0 || bytes > PKB_MESSAGE_BYTES || fd_count > PKB_MESSAGE_FDS)
        return pkb_error_set(err, PKB_ERR_USAGE, 0,
                             "a message of %zu bytes and %zu descriptors cannot be sent", bytes,
                             fd_count);
    if (fd_count > 0) {
        header.msg_control = control.bytes;
        header.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
        struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(fd_count * sizeof(int));
        memcpy(CMSG_DATA(rights), fds, fd_count * sizeof(int));
    }
    while (sendmsg(socket_fd, &header, MSG_NOSIGNAL) < 0) {
        if (errno == EINTR)
            continue;
        bool is_gone = errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN;
        return pkb_error_set_errno(err, is_gone ? PKB_ERR_CHILD : PKB_ERR_IO,
                                   "cannot send a message");
    }
    return PKB_OK;
}

static void take_control(pkb_message *message, struct msghdr *header)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(header); c != NULL; c = CMSG_NXTHDR(header, c)) {
        if (c->cmsg_level != SOL_SOCKET)
            continue;
        if (c->cmsg_type == SCM_CREDENTIALS) {
            struct ucred sender;
            memcpy(&sender, CMSG_DATA(c), sizeof sender);
            message->pid = sender.pid;
            message->uid = sender.uid;
        } else if (c->cmsg_type == SCM_RIGHTS) {
            size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
            for (size_t i = 0; i < count; i++) {
                int fd;
                memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
                if (message->fd_count < PKB_MESSAGE_FDS)
                    message->fds[message->fd_count++] = fd;
                else
                    close(fd);
            }
        }
    }
}

pkb_code pkb_message_receive(int socket_fd, pkb_message *message, uint64_t timeout_ns,
                             pkb_error *err)
{
    const uint64_t deadline_ns = deadline_after(timeout_ns);
    union {
        char bytes[CONTROL_BYTES];
        struct cmsghdr align;
    } control;
    struct iovec part = {.iov_base = message->data, .iov_len = PKB_MESSAGE_BYTES};
    ssize_t got = -1;

    reset(message);
    for (;;) {
        int ready = wait_readable(socket_fd, deadline_ns);
        if (ready < 0)
            return pkb_error_set_errno(err, PKB_ERR_IO, "cannot wait for a message");
        if (ready == 0)
            return pkb_error_set(err, PKB_ERR_TIMEOUT, 0, "no message came in time");
        struct msghdr header = {.msg_iov = &part,
                                .msg_iovlen = 1,
                                .msg_control = control.bytes,
                                .msg_controllen = sizeof control.bytes};
        got = recvmsg(socket_fd, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got < 0)
            return pkb_error_set_errno(err, errno == ECONNRESET ? PKB_ERR_CHILD : PKB_ERR_IO,
                                       "cannot receive a message");
        take_control(message, &header);
        if (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) {
            reset(message);
            return pkb_error_set(err, PKB_ERR_FORMAT, 0, "a message was too large");
        }
        break;
    }
    if (got == 0) {
        reset(message);
        return pkb_error_set(err, PKB_ERR_CHILD, 0, "the other side closed the connection");
    }
    message->bytes = (size_t)got;
    message->data[got] = '\0';
    return PKB_OK;
}
