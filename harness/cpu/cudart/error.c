/* SPDX-License-Identifier: Apache-2.0
 *
 * Names and texts of error codes.
 */
#include "harness/cpu/cudart/api.h"

#define CODE(name, text) {name, #name, text},
static const struct {
    cudaError_t code;
    const char *name, *text;
} codes[] = {
#include "harness/cpu/cudart/error_names.def"
};
#undef CODE

const char *cudaGetErrorName(cudaError_t code)
{
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        if (codes[i].code == code)
            return codes[i].name;
    return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t code)
{
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        if (codes[i].code == code)
            return codes[i].text;
    return "unrecognized error code";
}
