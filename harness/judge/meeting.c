/* SPDX-License-Identifier: Apache-2.0
 *
 * A star of sockets around rank 0; see meeting.h.
 */
#include "harness/judge/meeting.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"

#define MEETING_TIMEOUT_NS (UINT64_C(60) * PKB_NS_PER_S)

static pkb_code meeting_path(char *out, size_t bytes, const char *work, pkb_error *err)
{
    int length = snprintf(out, bytes, "%s/meet.sock", work);
    if (length < 0 || (size_t)length >= bytes)
        return pkb_error_set(err, PKB_ERR_USAGE, 0, "%s is too long for a socket's path", work);
    return PKB_OK;
}

/* Receives one message, looking after the watch meanwhile. */
static pkb_code receive(int fd, pkb_message *message, const pkb_watch *watch, pkb_error *err)
{
    uint64_t deadline_ns = pkb_clock_now_ns() + MEETING_TIMEOUT_NS;
    pkb_code rc = PKB_OK;
    for (;;) {
        rc = pkb_message_receive(fd, message, PKB_WATCH_SLICE_NS, err);
        if (rc != PKB_ERR_TIMEOUT || pkb_clock_left_ns(deadline_ns) == 0)
            return rc;
        if ((rc = pkb_watch_check(watch, err)) != PKB_OK)
            return rc;
    }
}

static pkb_code take_guest(pkb_meeting *meeting, int listener, const pkb_judge_world *world,
                           const pkb_watch *watch, pkb_error *err)
{
    int fd = -1;
    uint32_t rank = 0;
    pkb_code rc = pkb_socket_accept(&fd, listener, MEETING_TIMEOUT_NS, NULL, err);

    if (rc == PKB_OK)
        rc = receive(fd, meeting->message, watch, err);
    if (rc == PKB_OK && (sscanf(meeting->message->data, "rank %u", &rank) != 1 || rank == 0 ||
                         rank >= meeting->size || meeting->fds[rank] >= 0))
        rc = pkb_error_set(err, PKB_ERR_FORMAT, 0, "a judge said an impossible rank");
    if (rc == PKB_OK)
        rc = pkb_message_send(fd, "world", 5, &world->region.fd, 1, err);
    if (rc == PKB_OK) {
        meeting->fds[rank] = fd;
        fd = -1;
    }
    if (fd >= 0)
        close(fd);
    return rc;
}

static pkb_code host(pkb_meeting *meeting, pkb_judge_world *world, const char *path,
                     const pkb_watch *watch, pkb_error *err)
{
    int listener = -1;
    pkb_code rc = pkb_judge_world_create(world, meeting->size, watch, err);

    unlink(path); /* of an earlier world that was killed */
    if (rc == PKB_OK && meeting->size > 1)
        rc = pkb_socket_listen(&listener, path, err);
    for (uint32_t i = 1; rc == PKB_OK && i < meeting->size; i++)
        rc = take_guest(meeting, listener, world, watch, err);
    if (listener >= 0) {
        close(listener);
        unlink(path);
    }
    return rc;
}

static pkb_code join(pkb_meeting *meeting, pkb_judge_world *world, const char *path,
                     const pkb_watch *watch, pkb_error *err)
{
    char hello[32];
    int length = snprintf(hello, sizeof hello, "rank %u", meeting->rank);
    pkb_code rc = pkb_socket_connect(&meeting->fds[0], path, MEETING_TIMEOUT_NS, err);

    if (rc == PKB_OK)
        rc = pkb_message_send(meeting->fds[0], hello, (size_t)length, NULL, 0, err);
    if (rc == PKB_OK)
        rc = receive(meeting->fds[0], meeting->message, watch, err);
    if (rc == PKB_OK && meeting->message->fd_count != 1)
        rc = pkb_error_set(err, PKB_ERR_FORMAT, 0, "rank 0 sent no world page");
    if (rc != PKB_OK)
        return rc;
    int fd = meeting->message->fds[0];
    meeting->message->fds[0] = -1;
    return pkb_judge_world_adopt(world, meeting->rank, meeting->size, fd, watch, err);
}

pkb_code pkb_meeting_open(pkb_meeting *meeting, pkb_judge_world *world, const char *work,
                          uint32_t rank, uint32_t size, pkb_watch *watch, pkb_error *err)
{
    char path[sizeof((struct sockaddr_un *)0)->sun_path];
    pkb_code rc = meeting_path(path, sizeof path, work, err);

    *meeting = (pkb_meeting){.rank = rank, .size = size};
    for (uint32_t i = 0; i < PKB_MAX_RANKS; i++)
        meeting->fds[i] = -1;
    if (rc == PKB_OK)
        rc = pkb_message_create(&meeting->message, err);
    if (rc == PKB_OK)
        rc = rank == 0 ? host(meeting, world, path, watch, err)
                       : join(meeting, world, path, watch, err);
    for (uint32_t i = 0; rc == PKB_OK && i < PKB_MAX_RANKS; i++)
        if (meeting->fds[i] >= 0)
            watch->peer_fds[watch->peer_count++] = meeting->fds[i];
    return rc;
}

/* Takes `count` descriptors out of the message. */
static pkb_code take_fds(pkb_message *message, int *out, size_t count, pkb_error *err)
{
    if (message->fd_count != count)
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "a judge sent %zu descriptors instead of %zu",
                             message->fd_count, count);
    for (size_t i = 0; i < count; i++) {
        out[i] = message->fds[i];
        message->fds[i] = -1;
    }
    return PKB_OK;
}

static pkb_code gather(pkb_meeting *meeting, int *all, const pkb_watch *watch, pkb_error *err)
{
    pkb_code rc = PKB_OK;
    for (uint32_t rank = 1; rc == PKB_OK && rank < meeting->size; rank++) {
        rc = receive(meeting->fds[rank], meeting->message, watch, err);
        if (rc == PKB_OK)
            rc = take_fds(meeting->message, all + 2 * (size_t)rank, 2, err);
    }
    for (uint32_t rank = 1; rc == PKB_OK && rank < meeting->size; rank++)
        rc =
            pkb_message_send(meeting->fds[rank], "regions", 7, all, 2 * (size_t)meeting->size, err);
    return rc;
}

static pkb_code duplicate(const int mine[2], int *out, pkb_error *err)
{
    for (int i = 0; i < 2; i++) {
        out[i] = fcntl(mine[i], F_DUPFD_CLOEXEC, 3);
        if (out[i] < 0)
            return pkb_error_set_errno(err, PKB_ERR_IO, "cannot duplicate a region's descriptor");
    }
    return PKB_OK;
}

pkb_code pkb_meeting_exchange(pkb_meeting *meeting, const int mine[2], int *all,
                              const pkb_watch *watch, pkb_error *err)
{
    pkb_code rc = PKB_OK;
    if (meeting->rank == 0) {
        rc = duplicate(mine, all, err);
        return rc != PKB_OK ? rc : gather(meeting, all, watch, err);
    }
    rc = pkb_message_send(meeting->fds[0], "mine", 4, mine, 2, err);
    if (rc == PKB_OK)
        rc = receive(meeting->fds[0], meeting->message, watch, err);
    if (rc == PKB_OK)
        rc = take_fds(meeting->message, all, 2 * (size_t)meeting->size, err);
    return rc;
}

void pkb_meeting_close(pkb_meeting *meeting)
{
    for (uint32_t i = 0; i < PKB_MAX_RANKS; i++)
        if (meeting->fds[i] >= 0)
            close(meeting->fds[i]);
    pkb_message_free(meeting->message);
    meeting->message = NULL;
}
