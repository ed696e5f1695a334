/* SPDX-License-Identifier: Apache-2.0
 *
 * What touches argument memory, which may lie on a GPU: the judge's side of a device. Addresses in
 * such memory are `void *` that only these functions may follow.
 *
 * What cannot fail on a healthy machine returns nothing: the first failure sticks, later calls do
 * nothing, and `synchronise` tells. A judge asks it wherever it settles something. A search or
 * digest that did not look at everything has failed; surveys and tallies say it themselves.
 */
#ifndef PKB_HARNESS_JUDGE_DEVICE_H
#define PKB_HARNESS_JUDGE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "harness/judge/compare.h"
#include "harness/judge/survey.h"
#include "harness/memory/region.h"

typedef struct pkb_span { /* bytes [begin, end) of `base` */
    void *base;           /* aligned to 8 */
    uint64_t begin, end;
    uint64_t key;      /* of a pattern */
    const void *other; /* the same bytes of `other`, for copy and find_difference */
} pkb_span;

typedef struct pkb_spot { /* a byte of a span */
    size_t span;
    uint64_t at; /* from the span's base */
} pkb_spot;

typedef struct pkb_sample { /* one element of an output */
    const void *element;
    uint64_t bytes; /* 1, 2, 4 or 8 */
} pkb_sample;

typedef struct pkb_judge_device {
    const char *name;
    bool is_sparse;         /* memory that nobody touches costs nothing */
    uint32_t slot_count;    /* how many slots a size should have, memory permitting */
    uint64_t footprint;     /* more of them (up to the limit) until they take this many bytes */
    uint64_t symmetric_top; /* most symmetric memory; all of it where memory is sparse */

    /* Zero-filled memory for tensors, mapped here; `region->fd` is for other processes. */
    pkb_code (*create)(pkb_region *region, const char *name, uint64_t bytes, pkb_error *err);
    void (*clear)(pkb_region *region);
    /* Reads zero again. */
    pkb_code (*discard)(pkb_region *region, pkb_error *err);
    /* What a world of `world` ranks may use on this rank. */
    uint64_t (*available_bytes)(uint32_t world);
    /* More than this only where a size cannot be judged with less; 0 = no such limit. */
    uint64_t enough_bytes;
    /* Of the whole GPU, whoever uses it; NULL where memory is ordinary. */
    uint64_t (*used_bytes)(void);

    void (*fill)(const pkb_span *spans, size_t count); /* pattern.h */
    void (*copy)(const pkb_span *spans, size_t count); /* from `other` */
    /* The first byte of the first span that does not hold its pattern. False: all do. */
    bool (*find_damage)(const pkb_span *spans, size_t count, pkb_spot *spot);
    bool (*find_difference)(const pkb_span *spans, size_t count, pkb_spot *spot);
    /* pkb_pattern_digest over all spans, one after another. */
    uint64_t (*digest)(const pkb_span *spans, size_t count, uint64_t key);
    void (*read)(void *to, const void *from, size_t bytes); /* into ordinary memory */

    void (*survey)(pkb_survey *out, const pkb_comparison *comparison);
    pkb_tally (*tally)(const pkb_comparison *comparison, pkb_tally_rule rule, double limit);

    /* NULL where a worker's word that its work ended can be tested by stopping it. Else: the places
     * to look at, told ahead; a look, which waits for what the device was given before and whose
     * end is therefore the end of the work; and what was seen, zero-extended. */
    void (*sample_prepare)(const pkb_sample *samples, size_t count);
    pkb_code (*sample_take)(pkb_error *err);
    void (*sample_read)(uint64_t *out);

    /* How long a kernel takes that does a fixed amount of work on the whole device: longer where
     * somebody else's work runs beside it. NULL where stopping a process stops its work. */
    pkb_code (*probe)(uint64_t *took_ns, pkb_error *err);

    /* Waits for all of the above; the first failure of any. */
    pkb_code (*synchronise)(pkb_error *err);
    /* Runs a kernel that must give a known result, and compares the memory in use with `*in_use`
     * (0 = first call: sets it). Fails where the device is not what it was. */
    pkb_code (*check_health)(uint64_t *in_use, pkb_error *err);
} pkb_judge_device;

const pkb_judge_device *pkb_judge_device_cpu(void);
struct pkb_driver; /* harness/cuda/driver.h */
/* That GPU of the driver (borrowed), for the rest of this process. */
pkb_code pkb_judge_device_cuda(const pkb_judge_device **out, struct pkb_driver *driver, int gpu,
                               pkb_error *err);
void pkb_judge_device_cuda_close(void);

#endif
