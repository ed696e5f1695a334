/* SPDX-License-Identifier: Apache-2.0
 *
 * harness/judge/limits.c and what harness/judge/process.c reads of /proc: what a process uses is
 * seen from outside, and a limit that it exceeds is named.
 */
#include "harness/judge/limits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MIB = 1 << 20, CORES = 2 };

static uint64_t gpu_used_bytes;

static uint64_t used_bytes(void)
{
    return gpu_used_bytes;
}

static uint64_t available_bytes(uint32_t world)
{
    (void)world;
    return 100 * MIB;
}

static const pkb_judge_device gpu = {
    .name = "a GPU", .used_bytes = used_bytes, .available_bytes = available_bytes};
static const pkb_judge_device ordinary = {.name = "no GPU", .is_sparse = true};

static void *sleep_on(void *nothing)
{
    for (;;)
        pause();
    return nothing;
}

typedef struct wish { /* what a child uses */
    size_t private_bytes, shared_bytes;
    size_t table_bytes; /* page tables, of addresses that are only read */
    int threads;
} wish;

/* A page of the table is for 2 MiB of addresses, all of them the one page of zeros. */
static void use_tables(size_t bytes)
{
    const size_t count = bytes / 4096, reach = (size_t)2 * MIB;
    const int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    const volatile char *zeros = mmap(NULL, count * reach, PROT_READ, kind, -1, 0);
    if (bytes > 0 && zeros == MAP_FAILED)
        _exit(1);
    for (size_t i = 0; i < count; i++)
        if (zeros[i * reach] != 0)
            _exit(1);
}

static _Noreturn void use(const wish *wanted, int ready_fd)
{
    const size_t bytes[] = {wanted->private_bytes, wanted->shared_bytes};
    const int kinds[] = {MAP_PRIVATE, MAP_SHARED};
    pthread_t thread;

    for (int i = 0; i < 2; i++) {
        if (bytes[i] == 0)
            continue;
        void *made = mmap(NULL, bytes[i], PROT_READ | PROT_WRITE, kinds[i] | MAP_ANONYMOUS, -1, 0);
        if (made == MAP_FAILED)
            _exit(1);
        memset(made, 1, bytes[i]);
    }
    use_tables(wanted->table_bytes);
    for (int i = 0; i < wanted->threads; i++)
        if (pthread_create(&thread, NULL, sleep_on, NULL) != 0)
            _exit(1);
    if (write(ready_fd, "", 1) != 1)
        _exit(1);
    sleep_on(NULL);
    _exit(1);
}

static pkb_process start(const wish *wanted)
{
    pkb_process process = PKB_PROCESS_NONE;
    pkb_error err = {0};
    char byte;
    int ready[2];

    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0)
        use(wanted, ready[1]);
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    if (pkb_process_take(&process, pid, &err) != PKB_OK)
        fail_msg("%s", err.message);
    return process;
}

static void end(pkb_process *process)
{
    pkb_process_kill(process);
    waitpid(process->pid, NULL, 0);
    pkb_process_release(process);
}

static pkb_memory memory_on(const pkb_judge_device *device)
{
    static const pkb_region none = PKB_REGION_NONE;
    pkb_memory memory = {.device = device};
    memory.host = memory.values = memory.layout_region = memory.symmetric = none;
    memory.layout.world = 2;
    for (size_t i = 0; i < sizeof memory.arenas / sizeof memory.arenas[0]; i++)
        memory.arenas[i] = -1;
    return memory;
}

/* The limits of an idle process, held against one that uses more. */
static bool exceeds(const wish *wanted, const pkb_judge_device *device, uint64_t memory_bytes,
                    pkb_cell_excess *excess)
{
    const pkb_memory memory = memory_on(device);
    pkb_cell_limits limits;
    pkb_process idle = start(&(wish){0});

    assert_int_equal(pkb_cell_limits_choose(&limits, 2, NULL), PKB_OK);
    assert_in_range(limits.memory_bytes, 1, UINT64_C(8) << 30);
    limits.memory_bytes = memory_bytes;
    pkb_cell_limits_settle(&limits, &idle, &memory, CORES);
    assert_int_equal(limits.threads, 1 + CORES + 256);
    end(&idle);
    pkb_process busy = start(wanted);
    bool is_over = pkb_cell_limits_exceeded(&limits, &busy, &memory, true, excess);
    end(&busy);
    return is_over;
}

static void memory_has_a_limit(void **state)
{
    const wish wanted = {.private_bytes = 64 * MIB};
    pkb_cell_excess excess;
    (void)state;

    assert_false(exceeds(&wanted, &ordinary, 128 * MIB, &excess));
    assert_true(exceeds(&wanted, &ordinary, 32 * MIB, &excess));
    assert_string_equal(excess.limit, "32 MiB");
    assert_non_null(strstr(excess.uses, "MiB of memory"));
}

static void the_symmetric_memory_of_peers_has_a_limit(void **state)
{
    pkb_memory memory = memory_on(&ordinary);
    pkb_cell_limits limits = {.memory_bytes = 32 * MIB, .threads = 256, .scratch_fd = -1};
    pkb_region peers = PKB_REGION_NONE;
    pkb_cell_excess excess;
    (void)state;

    assert_int_equal(pkb_region_create(&peers, "peer", 64 * MIB, NULL), PKB_OK);
    memory.arenas[3] = peers.fd; /* of rank 1 */
    pkb_process idle = start(&(wish){0});
    assert_false(pkb_cell_limits_exceeded(&limits, &idle, &memory, true, &excess));
    memset(peers.address, 1, 48 * MIB);
    assert_true(pkb_cell_limits_exceeded(&limits, &idle, &memory, true, &excess));
    assert_string_equal(excess.uses, "uses 48 MiB of rank 1's symmetric memory");
    end(&idle);
    pkb_region_clear(&peers);
}

static void page_tables_are_memory(void **state)
{
    const wish wanted = {.table_bytes = 64 * MIB};
    pkb_cell_excess excess;
    (void)state;

    assert_false(exceeds(&wanted, &ordinary, 128 * MIB, &excess));
    assert_true(exceeds(&wanted, &ordinary, 32 * MIB, &excess));
}

static void pinned_memory_counts_where_there_is_a_gpu(void **state)
{
    const wish wanted = {.shared_bytes = 64 * MIB};
    pkb_cell_excess excess;
    (void)state;

    gpu_used_bytes = 0;
    assert_true(exceeds(&wanted, &gpu, 32 * MIB, &excess));
    assert_false(exceeds(&wanted, &gpu, 128 * MIB, &excess));
    assert_false(exceeds(&wanted, &ordinary, 32 * MIB, &excess)); /* its slots */
}

static void threads_have_a_limit(void **state)
{
    pkb_cell_excess excess;
    (void)state;

    assert_false(exceeds(&(wish){.threads = 256}, &ordinary, 4096ULL * MIB, &excess));
    assert_true(exceeds(&(wish){.threads = 300}, &ordinary, 4096ULL * MIB, &excess));
    assert_string_equal(excess.uses, "runs 301 threads");
    assert_string_equal(excess.limit, "259");
}

static void a_gpu_has_a_limit_beyond_what_was_in_use(void **state)
{
    const pkb_memory memory = memory_on(&gpu);
    pkb_cell_excess excess;
    pkb_cell_limits limits;
    (void)state;

    pkb_process process = start(&(wish){0});
    assert_int_equal(pkb_cell_limits_choose(&limits, 2, NULL), PKB_OK);
    gpu_used_bytes = 500 * MIB;
    pkb_cell_limits_settle(&limits, &process, &memory, CORES);
    gpu_used_bytes = 600 * MIB;
    assert_false(pkb_cell_limits_exceeded(&limits, &process, &memory, true, &excess));
    gpu_used_bytes = 601 * MIB;
    limits.next_look_ns = UINT64_MAX; /* and not before */
    assert_false(pkb_cell_limits_exceeded(&limits, &process, &memory, false, &excess));
    pkb_cell_limits_begin(&limits, true);
    assert_false(pkb_cell_limits_exceeded(&limits, &process, &memory, true, &excess));
    pkb_cell_limits_begin(&limits, false);
    assert_true(pkb_cell_limits_exceeded(&limits, &process, &memory, true, &excess));
    assert_string_equal(excess.uses, "uses 101 MiB of its GPU's memory");
    assert_string_equal(excess.limit, "100 MiB");
    limits.is_off = true;
    assert_false(pkb_cell_limits_exceeded(&limits, &process, &memory, true, &excess));
    end(&process);
}

static void who_has_ended_uses_nothing(void **state)
{
    const pkb_memory memory = memory_on(&ordinary);
    pkb_cell_limits limits = {0};
    pkb_cell_excess excess;
    pkb_process_usage usage;
    (void)state;

    pkb_process process = start(&(wish){0});
    assert_true(pkb_process_look(&process, &usage));
    assert_int_equal(usage.threads, 1);
    pkb_process_kill(&process);
    assert_true(pkb_process_wait(&process, UINT64_C(5000000000)));
    assert_false(pkb_process_look(&process, &usage));
    assert_false(pkb_cell_limits_exceeded(&limits, &process, &memory, true, &excess));
    end(&process);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_has_a_limit),
        cmocka_unit_test(the_symmetric_memory_of_peers_has_a_limit),
        cmocka_unit_test(page_tables_are_memory),
        cmocka_unit_test(pinned_memory_counts_where_there_is_a_gpu),
        cmocka_unit_test(threads_have_a_limit),
        cmocka_unit_test(a_gpu_has_a_limit_beyond_what_was_in_use),
        cmocka_unit_test(who_has_ended_uses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
