/* SPDX-License-Identifier: Apache-2.0
 *
 * harness/judge/evidence.c: a cell's word that the device cannot run it is checked.
 */
#include "harness/judge/evidence.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fs.h"

static char host[] = "/tmp/pkb-evidence-host.XXXXXX";
static char device[] = "/tmp/pkb-evidence-device.XXXXXX";
static char library[] = "/tmp/pkb-evidence-library.XXXXXX";

static int write_file(char *path, const char *content, size_t bytes)
{
    int fd = mkstemp(path);
    if (fd < 0 || close(fd) != 0)
        return -1;
    return (int)pkb_fs_replace(path, content, bytes, NULL);
}

/* As the translator's C is built; `planted` is what an attempt can bring in. */
static int build_device(void)
{
    char command[512];
    if (write_file(device, "", 0) != 0)
        return -1;
    snprintf(command, sizeof command,
             "printf '%%s\\n' '"
             "static const char what[] __attribute__((section(\"pkb_lacking\"), used)) ="
             " \"tex.1d.v4.f32.s32 at a.cu:13\";"
             "const char planted[] = \"wgmma.fence at a.cu:13\";"
             "' | gcc -shared -fPIC -x c - -o %s",
             device);
    return system(command);
}

static int write_files(void **state)
{
    (void)state;
    const char in_host[] = "\177ELF\0cudaMalloc\0cudaIpcGetMemHandle\0";
    const char in_library[] = "\177ELF\0cudaMalloc\0the CUDA call cudaIpcGetMemHandle\0"
                              "the CUDA call cudaMallocArray\0";
    return write_file(host, in_host, sizeof in_host) ||
           write_file(library, in_library, sizeof in_library) || build_device();
}

static int remove_files(void **state)
{
    (void)state;
    return unlink(host) || unlink(device) || unlink(library);
}

static int holds(const char *text)
{
    const pkb_evidence evidence = {
        .host_path = host, .device_path = device, .library_path = library};
    return pkb_evidence_is_unsupported(&evidence, text);
}

static void an_instruction_must_be_in_the_device_part(void **state)
{
    (void)state;
    assert_true(holds("rank 0, pkb_run: the CPU device does not support tex.1d.v4.f32.s32 at "
                      "a.cu:13"));
    assert_false(holds("the CPU device does not support wgmma.mma at a.cu:13"));
    assert_false(holds("the CPU device does not support wgmma.fence at a.cu:13")); /* planted */
    assert_false(holds("the CPU device does not support _"));
    assert_false(holds("the CPU device does not support f32.s32 at a.cu:13"));
    assert_false(holds("the CPU device does not support tex.1d.v4.f32.s32 at a.cu:1"));
}

static void a_call_must_be_lacking_and_imported(void **state)
{
    (void)state;
    assert_true(holds("the CPU device does not support the CUDA call cudaIpcGetMemHandle"));
    assert_false(holds("the CPU device does not support the CUDA call cudaMallocArray"));
    assert_false(holds("the CPU device does not support the CUDA call cudaMalloc"));
    assert_false(holds("the CPU device does not support the CUDA call cudaIpcGetMem"));
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
        &(pkb_evidence){.host_path = host, .device_path = NULL, .library_path = "/no/such/file"},
        "the CPU device does not support tex.1d.v4.f32.s32 at a.cu:13"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_instruction_must_be_in_the_device_part),
        cmocka_unit_test(a_call_must_be_lacking_and_imported),
        cmocka_unit_test(empty_and_other_words_prove_nothing),
    };
    return cmocka_run_group_tests(tests, write_files, remove_files);
}
