/* SPDX-License-Identifier: Apache-2.0
 *
 * What the CPU device's libcudart offers beside the CUDA runtime API: to the program that holds an
 * attempt (address plan, foreign memory, limits) and to the one that judges it (faults, progress).
 * That program finds these functions with dlsym in build/lib/libcudart.so.13. Functions that
 * return int give 0 or an errno value. They may be called from any thread.
 *
 * Device pointers lie in one reserved window without access rights; the same memory is mapped a
 * fixed distance further on, where kernels and CUDA calls reach it. So host code that dereferences
 * a device pointer dies by SIGSEGV, as with a GPU.
 */
#ifndef PKB_CPU_CUDART_PKB_CPU_H
#define PKB_CPU_CUDART_PKB_CPU_H

#include <stdint.h>

#pragma GCC visibility push(default)

/* ---- device code ---- */

/* The translated device code of the next host module that registers itself; by default
 * <path of the host .so without ".so">.device.so, and PKB_CPU_DEVICE_MODULE for executables.
 * The path is copied; NULL restores the default. Call it before dlopen of the attempt. */
void pkb_cpu_set_device_module(const char *path);

/* ---- address plan ---- */

/* Reserves `bytes` (rounded up to pages) of the window's foreign part. The address is 2 MiB
 * aligned. ENOMEM when the window is used up. */
int pkb_cpu_reserve(uint64_t bytes, uint64_t *device_address);

/* Maps bytes of `fd` at `offset` (a page multiple) at a reserved, page-aligned device address, for
 * kernels only. `writable` 0 maps it read-only. The fd may be closed afterwards. */
int pkb_cpu_map(uint64_t device_address, int fd, uint64_t offset, uint64_t bytes, int writable);

/* Makes the range inaccessible again; the reservation stays. */
int pkb_cpu_unmap(uint64_t device_address, uint64_t bytes);

/* The host's view of a device address (not checked against allocations); NULL outside the window.
 * For trusted code only. */
void *pkb_cpu_host_address(uint64_t device_address);

/* ---- faults ---- */

typedef enum pkb_cpu_fault_kind {
    PKB_CPU_FAULT_NONE,
    PKB_CPU_FAULT_ADDRESS,     /* access to memory not mapped or not writable; stack overflow */
    PKB_CPU_FAULT_MISALIGNED,  /* address not a multiple of the access size */
    PKB_CPU_FAULT_TRAP,        /* trap, brkpt, arithmetic exception */
    PKB_CPU_FAULT_ASSERT,      /* device assert() */
    PKB_CPU_FAULT_DEADLOCK,    /* all threads of a block wait for one another */
    PKB_CPU_FAULT_UNSUPPORTED, /* an instruction, or API call, that the CPU device lacks */
    PKB_CPU_FAULT_LANE_MASK,   /* a lane outside its own member mask, or mixed warp operations */
    PKB_CPU_FAULT_LAUNCH       /* a launch was refused; nothing ran */
} pkb_cpu_fault_kind;

typedef struct pkb_cpu_fault {
    pkb_cpu_fault_kind kind;
    int cuda_error;    /* the cudaError_t that the host part was given */
    char kernel[512];  /* demangled; "" when no kernel is concerned */
    uint32_t block[3]; /* blockIdx */
    uint32_t thread[3];
    char file[256]; /* source position, "" and 0 when not known */
    uint32_t line;
    uint64_t address; /* of the access, 0 when none is concerned */
    uint32_t access_bytes;
    int is_write;
    char message[512]; /* one sentence */
} pkb_cpu_fault;

/* The first device fault or, while there is none, the last refused launch or unsupported call.
 * NULL: all went well so far. Valid until the process ends; the content may change with the next
 * CUDA call. */
const pkb_cpu_fault *pkb_cpu_last_fault(void);

/* Called in the signal handler, before the process dies, when host code touched a device pointer:
 * async-signal-safe code only. NULL removes it. */
void pkb_cpu_set_host_fault_hook(void (*hook)(uint64_t address));

/* ---- progress ---- */

/* Filled in while kernels only spin, so that another process can say where a rank hangs. A writer
 * makes `sequence` odd, writes, and makes it even again. */
typedef struct pkb_cpu_status {
    uint64_t sequence;
    uint64_t idle_rounds; /* full rounds without progress since the library was loaded */
    uint32_t is_spinning; /* 1: a kernel spins now; 0: it went on or ended */
    uint32_t line;
    uint32_t block[3], thread[3];
    char kernel[256];
    char file[128];
} pkb_cpu_status;

/* `shared` is written to until replaced; NULL stops that. */
void pkb_cpu_set_status(pkb_cpu_status *shared);

/* ---- limits ---- */

typedef struct pkb_cpu_limits {
    uint64_t memory_bytes;       /* cudaMalloc'ed in all; 0 = leave as it is (80 GiB at start) */
    uint64_t print_bytes;        /* of device printf in all; 0 = leave (1 MiB at start) */
    uint32_t rank_count;         /* processes that spin on one another; 0 = leave (1) */
    uint32_t core_count;         /* cores they share; 0 = leave (those of this process) */
    uint32_t suspend_idle_ns;    /* a kernel that only spins hands control back to the host after
                                    this time; 0 = leave (2 ms) */
    uint32_t disable_suspension; /* 1: launches return only when their work is done */
} pkb_cpu_limits;

void pkb_cpu_set_limits(const pkb_cpu_limits *limits);

/* Name of the last CUDA function called that the CPU device lacks, NULL when none was. */
const char *pkb_cpu_unsupported_call(void);

#pragma GCC visibility pop

#endif
