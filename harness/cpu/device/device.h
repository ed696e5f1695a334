/* SPDX-License-Identifier: Apache-2.0
 *
 * The contract between translated device code and the CPU device's runtime. The translator emits
 * one C file per attempt that includes this header only; it becomes device.so, which exports
 * `pkb_device_module`. The runtime (our libcudart.so.13) loads it and resolves the functions
 * declared here. Inline arithmetic lives in number.h, memory access in access.h.
 */
#ifndef PKB_CPU_DEVICE_H
#define PKB_CPU_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#define PKB_DEVICE_MODULE_VERSION 1

#pragma GCC visibility push(default)

/* One CUDA thread as translated code sees it. The runtime embeds it in its own fiber struct. */
typedef struct pkb_thread {
    uint32_t tid[3], ntid[3];     /* %tid, %ntid */
    uint32_t ctaid[3], nctaid[3]; /* %ctaid, %nctaid */
    uint32_t lane, warp;          /* %laneid (linear thread index mod 32), %warpid */
    uint32_t linear;              /* linear thread index in the block */
    uint32_t smid;                /* %smid */
    int32_t yield_budget;         /* back edges of waiting loops left before a yield */
    uint32_t line;                /* source line last entered (0: unknown) ... */
    uint32_t file;                /* ... in files[file] of the module */
    uint32_t shared_base;    /* low 32 bits of the block's shared window (incl. reserved 1 KiB) */
    uint32_t dynamic_shared; /* low 32 bits of the first byte of dynamic shared memory */
    uint32_t dynamic_shared_bytes;
    uint32_t total_shared_bytes; /* from shared_base on: the reserved 1 KiB, static, dynamic */
    uint64_t grid_workspace;     /* %envreg1:%envreg2 */
    uint64_t grid_id;            /* %gridid */
} pkb_thread;

/* ---- what a module exports ---- */
typedef struct pkb_param_info {
    uint32_t offset, bytes;
} pkb_param_info;

typedef struct pkb_kernel_info {
    const char *name; /* mangled, as in the PTX */
    void (*entry)(pkb_thread *thread, const uint8_t *params);
    const pkb_param_info *params;
    uint32_t param_count, param_bytes;
    uint32_t static_shared_bytes; /* after the 1 KiB that is reserved at the window's start */
    uint32_t dynamic_shared_align;
    uint32_t max_threads; /* .maxntid product, 0 = not given */
    uint32_t max_registers, min_blocks;
    uint32_t cluster[3];  /* .reqnctapercluster, 0 = not given */
    uint32_t stack_bytes; /* the translator's estimate of local memory, 0 = unknown */
} pkb_kernel_info;

typedef struct pkb_variable_info {
    const char *name; /* as in the PTX */
    void *address;
    size_t bytes;
    int is_managed, is_constant;
} pkb_variable_info;

typedef struct pkb_device_module_info {
    uint32_t version; /* PKB_DEVICE_MODULE_VERSION */
    const pkb_kernel_info *kernels;
    uint32_t kernel_count;
    const pkb_variable_info *variables;
    uint32_t variable_count;
    const char *const *files; /* files[0] is "" */
    uint32_t file_count;
    void (*init)(void); /* fills initialisers that hold addresses; NULL if none */
} pkb_device_module_info;

extern const pkb_device_module_info pkb_device_module;

/* ---- address spaces (set once by the runtime before any kernel runs) ----
 * Device pointers lie in a window that is PROT_NONE for host code; the same memory is mapped
 * `pkb_window_delta` bytes further on. Shared memory lies in one 4 GiB-aligned 4 GiB range, so a
 * shared-space address is the low 32 bits of the host address. */
extern uint64_t pkb_window_base, pkb_window_bytes, pkb_window_delta;
extern uint64_t pkb_shared_range; /* host address of the 4 GiB range */

/* ---- control ---- */
void pkb_yield(pkb_thread *thread); /* from a back edge whose budget ran out, and nanosleep */
_Noreturn void pkb_thread_exit(pkb_thread *thread);
_Noreturn void pkb_trap(pkb_thread *thread,
                        const char *what); /* trap, brkpt: fault LAUNCH_FAILURE */
_Noreturn void pkb_unsupported(pkb_thread *thread,
                               const char *what); /* opcode named: fault UNSUPPORTED */
/* What translated code says: every such text of a module stands in a section of its own, where
 * nothing of the attempt can be, so that a judge can look it up there. */
#define PKB_UNSUPPORTED(thread, text)                                                  \
    do {                                                                               \
        static const char what[] __attribute__((section("pkb_lacking"), used)) = text; \
        pkb_unsupported((thread), what);                                               \
    } while (0)
_Noreturn void pkb_fault_address(pkb_thread *thread, uint64_t address, uint32_t bytes, int is_write,
                                 int is_misaligned);

/* ---- block barriers: bar/barrier; thread_count 0 = all threads of the block that still live ----
 */
void pkb_bar_sync(pkb_thread *thread, uint32_t id, uint32_t thread_count);
void pkb_bar_arrive(pkb_thread *thread, uint32_t id, uint32_t thread_count);
enum pkb_bar_op { PKB_BAR_AND, PKB_BAR_OR, PKB_BAR_POPC };
uint32_t pkb_bar_red(pkb_thread *thread, enum pkb_bar_op op, uint32_t id, uint32_t thread_count,
                     uint32_t predicate);

/* ---- warp collectives; `mask` is the member mask, ~0u for the legacy forms ---- */
void pkb_warp_sync(pkb_thread *thread, uint32_t mask);
enum pkb_shfl_mode { PKB_SHFL_UP, PKB_SHFL_DOWN, PKB_SHFL_BFLY, PKB_SHFL_IDX };
uint32_t pkb_shfl(pkb_thread *thread, enum pkb_shfl_mode mode, uint32_t value, uint32_t b,
                  uint32_t c, uint32_t mask, uint32_t *in_range); /* in_range may be NULL */
enum pkb_vote_mode { PKB_VOTE_ALL, PKB_VOTE_ANY, PKB_VOTE_UNI, PKB_VOTE_BALLOT };
uint32_t pkb_vote(pkb_thread *thread, enum pkb_vote_mode mode, uint32_t predicate, uint32_t mask);
uint32_t pkb_match_any(pkb_thread *thread, uint64_t value, uint32_t mask);
uint32_t pkb_match_all(pkb_thread *thread, uint64_t value, uint32_t mask, uint32_t *all_equal);
enum pkb_redux_op {
    PKB_REDUX_ADD,
    PKB_REDUX_MIN_U32,
    PKB_REDUX_MAX_U32,
    PKB_REDUX_MIN_S32,
    PKB_REDUX_MAX_S32,
    PKB_REDUX_AND,
    PKB_REDUX_OR,
    PKB_REDUX_XOR
};
uint32_t pkb_redux(pkb_thread *thread, enum pkb_redux_op op, uint32_t value, uint32_t mask);
uint32_t pkb_elect(pkb_thread *thread, uint32_t mask,
                   uint32_t *is_leader); /* returns the leader's lane */
uint32_t pkb_activemask(pkb_thread *thread,
                        uint32_t site); /* site: a number unique in the module */

/* ---- device runtime ---- */
uint32_t pkb_vprintf(pkb_thread *thread, uint64_t format, uint64_t arguments);
uint64_t pkb_device_malloc(pkb_thread *thread, uint64_t bytes);
void pkb_device_free(pkb_thread *thread, uint64_t address);
_Noreturn void pkb_assert_fail(pkb_thread *thread, uint64_t message, uint64_t file, uint32_t line,
                               uint64_t function);
uint64_t pkb_clock64(void);     /* cycles, for %clock and %clock64 */
uint64_t pkb_globaltimer(void); /* ns */
void pkb_nanosleep(pkb_thread *thread, uint32_t ns);

#pragma GCC visibility pop

#endif
