/* SPDX-License-Identifier: Apache-2.0
 *
 * Device variables by their host symbol.
 */
#include "harness/cpu/cudart/copy.h"
#include "harness/cpu/cudart/module.h"

static cudaError_t find(const void *symbol, size_t offset, size_t bytes, char **address)
{
    cudaError_t rc = pkb_api_enter();
    const pkb_variable_info *variable = pkb_variable_find(symbol);

    if (rc == cudaSuccess && variable == NULL)
        rc = cudaErrorInvalidSymbol;
    else if (rc == cudaSuccess && (offset > variable->bytes || bytes > variable->bytes - offset))
        rc = cudaErrorInvalidValue;
    if (rc == cudaSuccess)
        *address = (char *)variable->address + offset;
    return pkb_api_leave(rc);
}

cudaError_t cudaGetSymbolAddress(void **out, const void *symbol)
{
    char *address = NULL;
    cudaError_t rc = find(symbol, 0, 0, &address);
    if (rc == cudaSuccess)
        *out = address;
    return rc;
}

cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol)
{
    cudaError_t rc = pkb_api_enter();
    const pkb_variable_info *variable = pkb_variable_find(symbol);

    if (rc == cudaSuccess && variable == NULL)
        rc = cudaErrorInvalidSymbol;
    if (rc == cudaSuccess)
        *bytes = variable->bytes;
    return pkb_api_leave(rc);
}

static cudaError_t copy_to(const void *symbol, const void *from, size_t bytes, size_t offset,
                           cudaStream_t stream, pkb_wait wait)
{
    char *address = NULL;
    cudaError_t rc = find(symbol, offset, bytes, &address);

    if (rc != cudaSuccess)
        return rc;
    pkb_copy copy = pkb_copy_of_bytes(address, from, bytes);
    return pkb_copy_submit(&copy, cudaMemcpyDefault, stream, wait);
}

static cudaError_t copy_from(void *to, const void *symbol, size_t bytes, size_t offset,
                             cudaStream_t stream, pkb_wait wait)
{
    char *address = NULL;
    cudaError_t rc = find(symbol, offset, bytes, &address);

    if (rc != cudaSuccess)
        return rc;
    pkb_copy copy = pkb_copy_of_bytes(to, address, bytes);
    return pkb_copy_submit(&copy, cudaMemcpyDefault, stream, wait);
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                               enum cudaMemcpyKind kind)
{
    (void)kind;
    return copy_to(symbol, from, bytes, offset, NULL, PKB_SYNC);
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes,
                                    size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    (void)kind;
    return copy_to(symbol, from, bytes, offset, stream, PKB_ASYNC);
}

cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset,
                                 enum cudaMemcpyKind kind)
{
    (void)kind;
    return copy_from(to, symbol, bytes, offset, NULL, PKB_SYNC);
}

cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream)
{
    (void)kind;
    return copy_from(to, symbol, bytes, offset, stream, PKB_ASYNC);
}
