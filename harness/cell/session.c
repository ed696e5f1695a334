/* SPDX-License-Identifier: Apache-2.0
 *
 * From the judge's message to a mapped world; see session.h.
 */
#include "harness/cell/session.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness/memory/region.h"

enum { ADDRESS_STEPS = 1024, ADDRESS_STEP_BYTES = 2 << 20 };
/* For as long as another cell works; the judge's end ends the wait. */
#define OPEN_TIMEOUT_NS (86400 * PKB_NS_PER_S)

static const char hello[] = "hello";

static int take_fd(pkb_message *message, size_t index)
{
    int fd = message->fds[index];
    message->fds[index] = -1;
    return fd;
}

/* The judge learns our pid from the credentials that the kernel attaches, and can see by our /tmp
 * how many files an attempt makes. */
static pkb_code say_hello(int socket_fd, pkb_error *err)
{
    int scratch_fd = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
    pkb_code rc = pkb_message_send(socket_fd, hello, sizeof hello - 1, &scratch_fd,
                                   scratch_fd >= 0 ? 1 : 0, err);
    if (scratch_fd >= 0)
        close(scratch_fd);
    return rc;
}

static pkb_code receive(pkb_session *session, pkb_error *err)
{
    pkb_message *message = session->message;
    pkb_code rc = pkb_message_receive(session->socket_fd, message, OPEN_TIMEOUT_NS, err);

    if (rc != PKB_OK)
        return rc;
    if (message->bytes != sizeof session->opening)
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "the opening message has %zu bytes",
                             message->bytes);
    memcpy(&session->opening, message->data, sizeof session->opening);
    if (session->opening.version != PKB_CELL_OPEN_VERSION ||
        session->opening.fd_count != message->fd_count || message->fd_count <= PKB_CELL_FD_ARENAS)
        return pkb_error_set(err, PKB_ERR_FORMAT, 0,
                             "the opening message is of version %u with %zu descriptors",
                             session->opening.version, message->fd_count);
    return PKB_OK;
}

/* ---- host mappings ---- */

static pkb_code map_read_only(const void **out, pkb_message *message, size_t index, size_t bytes,
                              pkb_error *err)
{
    pkb_region region = PKB_REGION_NONE;
    pkb_code rc = pkb_region_adopt_read_only(&region, take_fd(message, index), bytes, err);
    if (rc == PKB_OK) {
        *out = region.address;
        close(region.fd);
    }
    return rc;
}

/* The judge goes on with the page that it has. */
static pkb_code map_page(pkb_session *session, pkb_error *err)
{
    pkb_region page = PKB_REGION_NONE;
    int fd = take_fd(session->message, PKB_CELL_FD_PAGE);

    if (session->page != NULL) {
        close(fd);
        return PKB_OK;
    }
    pkb_code rc = pkb_region_adopt(&page, fd, sizeof(pkb_page), err);
    if (rc != PKB_OK)
        return rc;
    session->page = page.address;
    close(page.fd);
    return PKB_OK;
}

static size_t values_bytes(const pkb_session *session)
{
    return session->layout->slot_count * sizeof(pkb_slot_values);
}

static pkb_code map_host(pkb_session *session, pkb_error *err)
{
    pkb_message *message = session->message;
    const void *layout = NULL, *values = NULL, *host = NULL;
    pkb_code rc = map_read_only(&layout, message, PKB_CELL_FD_LAYOUT, sizeof(pkb_layout), err);

    if (rc != PKB_OK)
        return rc;
    session->layout = layout;
    if (message->fd_count != PKB_CELL_FD_ARENAS + 2 * (size_t)session->layout->world)
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "%zu descriptors for %u ranks",
                             message->fd_count, session->layout->world);
    rc = map_page(session, err);
    if (rc == PKB_OK)
        rc = map_read_only(&values, message, PKB_CELL_FD_VALUES, values_bytes(session), err);
    if (rc == PKB_OK)
        rc = map_read_only(&host, message, PKB_CELL_FD_HOST, session->layout->slots_bytes, err);
    session->values = values;
    session->host_arguments = host;
    return rc;
}

static void unmap_host(pkb_session *session)
{
    if (session->host_arguments != NULL)
        munmap((void *)(uintptr_t)session->host_arguments, session->layout->slots_bytes);
    if (session->values != NULL)
        munmap((void *)(uintptr_t)session->values, values_bytes(session));
    munmap((void *)(uintptr_t)session->layout, sizeof(pkb_layout));
    session->host_arguments = NULL;
    session->values = NULL;
    session->layout = NULL;
}

/* ---- device mappings ---- */

static pkb_code map_device(const pkb_device *device, uint64_t address, pkb_message *message,
                           size_t index, uint64_t bytes, pkb_error *err)
{
    int fd = take_fd(message, index);
    pkb_code rc = device->map(address, fd, bytes, err);
    close(fd);
    return rc;
}

/* All arenas in one range whose start differs between processes and attempts. */
static pkb_code reserve_arenas(const pkb_session *session, uint64_t *base, pkb_error *err)
{
    const uint64_t bytes = session->layout->rank_stride * session->layout->world;
    const uint64_t spread = session->opening.random % ADDRESS_STEPS * ADDRESS_STEP_BYTES;
    pkb_code rc = session->device->reserve(bytes + spread, base, err);

    if (rc == PKB_OK)
        *base += spread;
    return rc;
}

static uint64_t arena_of(const pkb_session *session, uint32_t rank)
{
    return session->arenas + rank * session->layout->rank_stride;
}

static pkb_code map_arenas(pkb_session *session, pkb_error *err)
{
    const pkb_layout *layout = session->layout;
    pkb_message *message = session->message;
    pkb_code rc = reserve_arenas(session, &session->arenas, err);

    for (uint32_t rank = 0; rank < layout->world && rc == PKB_OK; rank++) {
        const uint64_t arena = arena_of(session, rank);
        const size_t index = PKB_CELL_FD_ARENAS + 2 * (size_t)rank;
        rc = map_device(session->device, arena, message, index, layout->slots_bytes, err);
        if (rc == PKB_OK)
            rc = map_device(session->device, arena + pkb_layout_symmetric_offset(layout), message,
                            index + 1, layout->symmetric_bytes, err);
    }
    if (rc == PKB_OK)
        rc = session->device->reserve(layout->slots_bytes, &session->staging, err);
    if (rc == PKB_OK)
        rc = map_device(session->device, session->staging, message, PKB_CELL_FD_STAGING,
                        layout->slots_bytes, err);
    return rc;
}

static pkb_code unmap_arenas(pkb_session *session, pkb_error *err)
{
    const pkb_device *device = session->device;
    const pkb_layout *layout = session->layout;
    pkb_code rc = device->unmap(session->staging, layout->slots_bytes, err);

    for (uint32_t rank = 0; rank < layout->world && rc == PKB_OK; rank++) {
        const uint64_t arena = arena_of(session, rank);
        rc = device->unmap(arena, layout->slots_bytes, err);
        if (rc == PKB_OK)
            rc = device->unmap(arena + pkb_layout_symmetric_offset(layout), layout->symmetric_bytes,
                               err);
    }
    return rc;
}

/* ---- the device itself ---- */

static pkb_code cuda_code(const pkb_session *session, int error, const char *what, pkb_error *err)
{
    if (error == PKB_CUDA_SUCCESS)
        return PKB_OK;
    return pkb_error_set(err, PKB_ERR_CUDA, error, "%s: %s", what,
                         session->runtime.error_text(error));
}

/* The device is up, with its fault handlers, before its addresses are planned. */
static pkb_code open_device(pkb_session *session, pkb_error *err)
{
    pkb_code rc = pkb_runtime_open(&session->runtime, err);

    if (rc == PKB_OK)
        rc = pkb_device_find(&session->device, &session->runtime, err);
    return rc != PKB_OK
               ? rc
               : cuda_code(session, session->runtime.set_device(0), "cannot open the device", err);
}

/* Each size has a stream of its own: an attempt may set more of one than it may read. */
static pkb_code open_stream(pkb_session *session, pkb_error *err)
{
    int error = session->runtime.set_device(0); /* an attempt may have chosen another one */

    if (error == PKB_CUDA_SUCCESS)
        error = session->runtime.stream_create(&session->stream, PKB_CUDA_NON_BLOCKING);
    return cuda_code(session, error, "cannot make a stream", err);
}

pkb_code pkb_session_start(pkb_session *session, int socket_fd, pkb_error *err)
{
    session->socket_fd = socket_fd;
    pkb_code rc = pkb_message_create(&session->message, err);

    if (rc == PKB_OK)
        rc = open_device(session, err);
    if (rc == PKB_OK)
        rc = open_stream(session, err); /* what it starts is no part of the first size */
    return rc == PKB_OK ? say_hello(socket_fd, err) : rc;
}

pkb_code pkb_session_open(pkb_session *session, pkb_error *err)
{
    pkb_code rc = receive(session, err);

    if (rc == PKB_OK)
        rc = map_host(session, err);
    if (rc == PKB_OK && session->stream == NULL)
        rc = open_stream(session, err);
    if (rc == PKB_OK)
        rc = map_arenas(session, err);
    if (rc == PKB_OK)
        pkb_world_init(&session->world, session->layout, session->arenas, session->host_arguments,
                       session->values);
    if (session->opening.stays == 0) {
        close(session->socket_fd);
        session->socket_fd = -1;
    }
    return rc;
}

pkb_code pkb_session_close(pkb_session *session, pkb_error *err)
{
    pkb_code rc = cuda_code(session, session->runtime.stream_destroy(session->stream),
                            "cannot give up a stream", err);

    session->stream = NULL;
    if (rc == PKB_OK)
        rc = unmap_arenas(session, err);
    if (rc == PKB_OK)
        unmap_host(session);
    return rc;
}
