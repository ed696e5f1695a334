/* SPDX-License-Identifier: Apache-2.0
 *
 * Sealed, sparse shared memory; see region.h.
 */
#include "harness/memory/region.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* For Python's ctypes: seen outside although everything else is hidden. */
#define PKB_EXPORT __attribute__((visibility("default")))

static const int required_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

static void *map(int fd, size_t bytes, int protection)
{
    void *address = mmap(NULL, bytes, protection, MAP_SHARED | MAP_NORESERVE, fd, 0);
    return address == MAP_FAILED ? NULL : address;
}

pkb_code pkb_region_create(pkb_region *region, const char *name, size_t bytes, pkb_error *err)
{
    pkb_code rc = PKB_OK;
    int fd = -1;
    void *address = NULL;

    if (bytes == 0 || bytes > INT64_MAX)
        return pkb_error_set(err, PKB_ERR_USAGE, 0, "region %s of %zu bytes", name, bytes);
    fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) {
        rc = pkb_error_set_errno(err, PKB_ERR_MEMORY, "cannot make region %s", name);
        goto cleanup;
    }
    if (ftruncate(fd, (off_t)bytes) < 0 || fcntl(fd, F_ADD_SEALS, required_seals) < 0) {
        rc = pkb_error_set_errno(err, PKB_ERR_MEMORY, "cannot size region %s to %zu bytes", name,
                                 bytes);
        goto cleanup;
    }
    address = map(fd, bytes, PROT_READ | PROT_WRITE);
    if (address == NULL) {
        rc = pkb_error_set_errno(err, PKB_ERR_MEMORY, "cannot map region %s, %zu bytes", name,
                                 bytes);
        goto cleanup;
    }

    *region = (pkb_region){.fd = fd, .address = address, .bytes = bytes};
    fd = -1;
cleanup:
    if (fd >= 0)
        close(fd);
    return rc;
}

/* Nothing that its other holders do may shrink what is mapped here. */
static pkb_code check_descriptor(int fd, size_t bytes, pkb_error *err)
{
    struct stat facts;

    if (fstat(fd, &facts) < 0)
        return pkb_error_set_errno(err, PKB_ERR_IO, "cannot look at a region's descriptor %d", fd);
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || (seals & required_seals) != required_seals)
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "descriptor %d is no sealed region", fd);
    if (bytes == 0 || facts.st_size < 0 || (size_t)facts.st_size != bytes)
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "a region has %lld bytes instead of %zu",
                             (long long)facts.st_size, bytes);
    return PKB_OK;
}

pkb_code pkb_region_adopt(pkb_region *region, int fd, size_t bytes, pkb_error *err)
{
    pkb_code rc = check_descriptor(fd, bytes, err);
    void *address = NULL;

    if (rc == PKB_OK && (address = map(fd, bytes, PROT_READ | PROT_WRITE)) == NULL)
        rc = pkb_error_set_errno(err, PKB_ERR_MEMORY, "cannot map a region of %zu bytes", bytes);
    if (rc != PKB_OK) {
        close(fd);
        return rc;
    }
    *region = (pkb_region){.fd = fd, .address = address, .bytes = bytes};
    return PKB_OK;
}

pkb_code pkb_region_adopt_read_only(pkb_region *region, int fd, size_t bytes, pkb_error *err)
{
    pkb_code rc = check_descriptor(fd, bytes, err);
    int reader_fd = -1;
    void *address = NULL;
    char path[64];

    if (rc != PKB_OK)
        goto cleanup;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    reader_fd = open(path, O_RDONLY | O_CLOEXEC);
    if (reader_fd < 0) {
        rc = pkb_error_set_errno(err, PKB_ERR_IO, "cannot open a region for reading");
        goto cleanup;
    }
    address = map(reader_fd, bytes, PROT_READ);
    if (address == NULL) {
        rc = pkb_error_set_errno(err, PKB_ERR_MEMORY, "cannot map a region of %zu bytes", bytes);
        goto cleanup;
    }
    *region = (pkb_region){.fd = reader_fd, .address = address, .bytes = bytes};
    reader_fd = -1;
cleanup:
    if (reader_fd >= 0)
        close(reader_fd);
    close(fd);
    return rc;
}

pkb_code pkb_region_discard(pkb_region *region, pkb_error *err)
{
    if (fallocate(region->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)region->bytes) <
        0)
        return pkb_error_set_errno(err, PKB_ERR_MEMORY, "cannot give back a region's pages");
    return PKB_OK;
}

uint64_t pkb_region_used_bytes(const pkb_region *region)
{
    enum { BLOCK_BYTES = 512 };
    struct stat facts;

    return fstat(region->fd, &facts) < 0 ? 0 : (uint64_t)facts.st_blocks * BLOCK_BYTES;
}

void pkb_region_clear(pkb_region *region)
{
    if (region->address != NULL)
        munmap(region->address, region->bytes);
    if (region->fd >= 0)
        close(region->fd);
    *region = (pkb_region)PKB_REGION_NONE;
}

PKB_EXPORT void *pkb_region_map(int fd, size_t bytes)
{
    struct stat facts;

    if (fstat(fd, &facts) < 0)
        return NULL;
    if (facts.st_size < 0 || (size_t)facts.st_size < bytes) {
        errno = EINVAL; /* beyond the end every access would be SIGBUS */
        return NULL;
    }
    return map(fd, bytes, PROT_READ | PROT_WRITE);
}

PKB_EXPORT int pkb_region_unmap(void *address, size_t bytes)
{
    return munmap(address, bytes);
}
