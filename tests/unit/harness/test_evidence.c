/* SPDX-License-Identifier: Apache-2.0
 *
 * harness/judge/evidence.c: a cell's word that the device cannot run it is checked.
 */
#include "harness/judge/evidence.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fs.h"

static char host[] = "/tmp/pkb-evidence-host.XXXXXX", device[] = "/tmp/pkb-evidence-dev.XXXXXX";

static int write_files(void **state)
{
    (void)state;
    int host_fd = mkstemp(host), device_fd = mkstemp(device);
    if (host_fd < 0 || device_fd < 0)
        return -1;
    close(host_fd);
    close(device_fd);
    const char in_host[] = "\177ELF\0cudaMalloc\0cudaIpcGetMemHandle\0";
    const char in_device[] = "\177ELF\0tex.1d.v4.f32.s32 at a.cu:13\0";
    return pkb_fs_replace(host, in_host, sizeof in_host, NULL) ||
           pkb_fs_replace(device, in_device, sizeof in_device, NULL);
}

static int remove_files(void **state)
{
    (void)state;
    return unlink(host) || unlink(device);
}

static int holds(const char *text)
{
    return pkb_evidence_is_unsupported(text, host, device);
}

static void an_instruction_must_be_in_the_device_part(void **state)
{
    (void)state;
    assert_true(holds("rank 0, pkb_run: the CPU device does not support tex.1d.v4.f32.s32 at "
                      "a.cu:13"));
    assert_false(holds("the CPU device does not support wgmma.fence at a.cu:13"));
    assert_false(holds("the CPU device does not support cudaMalloc"));
}

static void a_call_must_be_in_the_host_part(void **state)
{
    (void)state;
    assert_true(holds("the CPU device does not support the CUDA call cudaIpcGetMemHandle"));
    assert_false(holds("the CPU device does not support the CUDA call cudaGraphicsMapResources"));
    assert_false(holds("the CPU device does not support clusters of more than one block"));
}

static void empty_and_other_words_prove_nothing(void **state)
{
    (void)state;
    assert_false(holds(""));
    assert_false(holds("I cannot run here"));
    assert_false(holds("the CPU device does not support "));
    assert_false(holds("the CPU device does not support the CUDA call "));
    assert_false(pkb_evidence_is_unsupported(
        "the CPU device does not support tex.1d.v4.f32.s32 at a.cu:13", host, "/no/such/file"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_instruction_must_be_in_the_device_part),
        cmocka_unit_test(a_call_must_be_in_the_host_part),
        cmocka_unit_test(empty_and_other_words_prove_nothing),
    };
    return cmocka_run_group_tests(tests, write_files, remove_files);
}
