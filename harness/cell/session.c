/* SPDX-License-Identifier: Apache-2.0
 *
 * From the judge's message to a mapped world; see session.h.
 */
#include "harness/cell/session.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness/memory/region.h"
#include "harness/sandbox/message.h"

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

static pkb_code receive(pkb_session *session, int socket_fd, pkb_message *message, pkb_error *err)
{
    pkb_code rc = say_hello(socket_fd, err);

    if (rc == PKB_OK)
        rc = pkb_message_receive(socket_fd, message, OPEN_TIMEOUT_NS, err);
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

static pkb_code map_host(pkb_session *session, pkb_message *message, pkb_error *err)
{
    const void *layout = NULL, *values = NULL, *host = NULL;
    pkb_region page = PKB_REGION_NONE;
    pkb_code rc = map_read_only(&layout, message, PKB_CELL_FD_LAYOUT, sizeof(pkb_layout), err);

    if (rc != PKB_OK)
        return rc;
    session->layout = layout;
    if (message->fd_count != PKB_CELL_FD_ARENAS + 2 * (size_t)session->layout->world)
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "%zu descriptors for %u ranks",
                             message->fd_count, session->layout->world);
    rc = pkb_region_adopt(&page, take_fd(message, PKB_CELL_FD_PAGE), sizeof(pkb_page), err);
    if (rc != PKB_OK)
        return rc;
    session->page = page.address;
    close(page.fd);
    rc = map_read_only(&values, message, PKB_CELL_FD_VALUES,
                       session->layout->slot_count * sizeof(pkb_slot_values), err);
    if (rc == PKB_OK)
        rc = map_read_only(&host, message, PKB_CELL_FD_HOST, session->layout->slots_bytes, err);
    session->values = values;
    session->host_arguments = host;
    return rc;
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

static pkb_code map_arenas(pkb_session *session, pkb_message *message, uint64_t *base,
                           pkb_error *err)
{
    const pkb_layout *layout = session->layout;
    pkb_code rc = reserve_arenas(session, base, err);

    for (uint32_t rank = 0; rank < layout->world && rc == PKB_OK; rank++) {
        const uint64_t arena = *base + rank * layout->rank_stride;
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

/* The device is up, with its fault handlers, before its addresses are planned. */
static pkb_code open_device(pkb_session *session, pkb_error *err)
{
    pkb_code rc = pkb_runtime_open(&session->runtime, err);

    if (rc == PKB_OK)
        rc = pkb_device_find(&session->device, &session->runtime, err);
    if (rc != PKB_OK)
        return rc;
    int error = session->runtime.set_device(0);
    if (error == PKB_CUDA_SUCCESS)
        error = session->runtime.stream_create(&session->stream, PKB_CUDA_NON_BLOCKING);
    if (error != PKB_CUDA_SUCCESS)
        return pkb_error_set(err, PKB_ERR_CUDA, error, "cannot open the device: %s",
                             session->runtime.error_text(error));
    return PKB_OK;
}

pkb_code pkb_session_open(pkb_session *session, int socket_fd, pkb_error *err)
{
    pkb_message *message = NULL;
    uint64_t base = 0;
    pkb_code rc = pkb_message_create(&message, err);

    if (rc == PKB_OK)
        rc = open_device(session, err);
    if (rc == PKB_OK)
        rc = receive(session, socket_fd, message, err);
    if (rc == PKB_OK)
        rc = map_host(session, message, err);
    if (rc == PKB_OK)
        rc = map_arenas(session, message, &base, err);
    if (rc == PKB_OK)
        pkb_world_init(&session->world, session->layout, base, session->host_arguments,
                       session->values);
    pkb_message_free(message);
    close(socket_fd);
    return rc;
}
