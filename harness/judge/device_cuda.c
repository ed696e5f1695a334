/* SPDX-License-Identifier: Apache-2.0
 *
 * Argument memory on a GPU; see device.h. A judge has one GPU for its whole life, so the state is
 * one static variable. Kernels are in kernels.cu.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "harness/cuda/compute.h"
#include "harness/cuda/region.h"
#include "harness/cuda/vmm.h"
#include "harness/judge/device.h"
#include "harness/judge/kernels.h"
#include "harness/judge/number.h"
#include "harness/judge/pattern.h"

enum {
    WORDS_A_THREAD = 8,
    MOST_BLOCKS = 8192,
    SURVEY_BLOCKS = 1024,
    HEALTH_BYTES = 1 << 20,
    HEALTH_WAITS = 1000,
    PROBE_BLOCKS = 2048,
    PROBE_STEPS = 96 << 10 /* about 3 ms on an H200 */
};
/* Enough for a batch of 50 ms of most kernels; over three times any level-2 cache so far. */
#define FOOTPRINT_BYTES (UINT64_C(8) << 30)
/* With the reference's own that stays under 40 GiB. */
#define ENOUGH_BYTES (UINT64_C(30) << 30)
/* What the reference's process may come to hold meanwhile. */
#define MEMORY_SLACK_BYTES (UINT64_C(512) << 20)

enum {
    FILL,
    COPY,
    FIND_DAMAGE,
    FIND_DIFFERENCE,
    DIGEST,
    SURVEY,
    TALLY,
    SAMPLE,
    PROBE,
    KERNEL_COUNT
};
static const char *const kernel_names[KERNEL_COUNT] = {
    "pkb_fill_spans",      "pkb_copy_spans",   "pkb_find_damage",
    "pkb_find_difference", "pkb_digest_spans", "pkb_survey_output",
    "pkb_tally_output",    "pkb_look",         "pkb_probe"};

static struct {
    pkb_driver *driver;
    pkb_compute *compute;
    int gpu;
    const void *places; /* of the sampler */
    void *samples;
    size_t sample_count;
} cuda;

static const char no_memory[] = "out of memory for what they are told or answer";
static const char partial[] = "they did not look at everything";

static uint64_t address_of(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}

/* ---- memory ---- */

/* Up to the end of the last page: a cell sees that too, and it may hold what was freed before. */
static pkb_code zero(pkb_region *region, pkb_error *err)
{
    uint64_t page = 0;
    pkb_code rc = pkb_vmm_granularity(cuda.driver, cuda.gpu, &page, err);

    if (rc != PKB_OK)
        return rc;
    pkb_compute_set(cuda.compute, region->address, 0, (region->bytes + page - 1) / page * page);
    return pkb_compute_synchronise(cuda.compute, err);
}

static pkb_code create(pkb_region *region, const char *name, uint64_t bytes, pkb_error *err)
{
    (void)name;
    pkb_code rc = pkb_gpu_region_create(region, cuda.driver, cuda.gpu, bytes, err);
    return rc != PKB_OK ? rc : zero(region, err);
}

static void clear(pkb_region *region)
{
    pkb_gpu_region_clear(region, cuda.driver, cuda.gpu);
}

/* Half of what is free; attempt and reference take the rest. */
static uint64_t available_bytes(uint32_t world)
{
    uint64_t total = 0;
    (void)world; /* each rank has a GPU of its own */
    return pkb_compute_free_bytes(cuda.compute, &total) / 2;
}

static uint64_t used_bytes(void)
{
    uint64_t total = 0, free_bytes = pkb_compute_free_bytes(cuda.compute, &total);
    return total - free_bytes;
}

/* ---- spans ---- */

static bool is_empty(const pkb_span *span)
{
    return span->end <= span->begin;
}

/* Tells the GPU the spans; how many blocks look at each, 0 = nothing to do. */
static uint32_t tell_spans(const pkb_span *spans, size_t count, uint64_t key_step,
                           const void **told)
{
    pkb_kernel_span *list = count == 0 ? NULL : calloc(count, sizeof *list);
    uint64_t longest = 0;

    if (list == NULL && count > 0)
        pkb_compute_refuse(cuda.compute, no_memory);
    if (list == NULL)
        return 0;
    for (size_t i = 0; i < count; i++) {
        list[i] = (pkb_kernel_span){.base = address_of(spans[i].base),
                                    .begin = spans[i].begin,
                                    .end = spans[i].end,
                                    .key = spans[i].key + i * key_step,
                                    .other = address_of(spans[i].other)};
        if (!is_empty(&spans[i]) && spans[i].end - spans[i].begin > longest)
            longest = spans[i].end - spans[i].begin;
    }
    *told = pkb_compute_tell(cuda.compute, PKB_COMPUTE_TOLD, list, count * sizeof *list);
    free(list);
    uint64_t blocks = longest / (sizeof(uint64_t) * WORDS_A_THREAD * PKB_COMPUTE_THREADS) + 1;
    uint64_t most = MOST_BLOCKS / count + 1;
    return (uint32_t)(longest == 0 ? 0 : blocks < most ? blocks : most);
}

static void change(size_t kernel, const pkb_span *spans, size_t count)
{
    const void *told = NULL;
    uint32_t blocks = tell_spans(spans, count, 0, &told);
    void *arguments[] = {&told};
    if (blocks > 0)
        pkb_compute_launch(cuda.compute, kernel, blocks, (uint32_t)count, arguments);
}

static void fill(const pkb_span *spans, size_t count)
{
    change(FILL, spans, count);
}

static void copy(const pkb_span *spans, size_t count)
{
    change(COPY, spans, count);
}

/* Words that a kernel has to look at. */
static uint64_t count_words(const pkb_span *spans, size_t count)
{
    uint64_t words = 0;
    for (size_t i = 0; i < count; i++)
        if (!is_empty(&spans[i]))
            words += (spans[i].end + 7) / 8 - spans[i].begin / 8;
    return words;
}

/* One number a span: the first byte found there, all ones = none. Behind them words looked at. */
static bool find(size_t kernel, const pkb_span *spans, size_t count, pkb_spot *spot)
{
    const void *told = NULL;
    uint32_t blocks = tell_spans(spans, count, 0, &told);
    const size_t bytes = (count + 1) * sizeof(uint64_t);
    uint64_t *found = blocks == 0 ? NULL : malloc(bytes);
    bool is_found = false;

    if (found == NULL && blocks > 0)
        pkb_compute_refuse(cuda.compute, no_memory);
    if (found == NULL)
        return false;
    memset(found, 255, bytes);
    uint64_t *answer = pkb_compute_answer(cuda.compute, PKB_COMPUTE_ANSWER, bytes, 255);
    void *arguments[] = {&told, &answer};
    pkb_compute_set(cuda.compute, answer + count, 0, sizeof *answer);
    pkb_compute_launch(cuda.compute, kernel, blocks, (uint32_t)count, arguments);
    pkb_compute_read(cuda.compute, found, answer, bytes);
    if (found[count] != count_words(spans, count))
        pkb_compute_refuse(cuda.compute, partial);
    for (size_t i = 0; i < count && !is_found; i++) {
        is_found = found[i] != UINT64_MAX;
        if (is_found)
            *spot = (pkb_spot){.span = i, .at = found[i]};
    }
    free(found);
    return is_found;
}

static bool find_damage(const pkb_span *spans, size_t count, pkb_spot *spot)
{
    return find(FIND_DAMAGE, spans, count, spot);
}

static bool find_difference(const pkb_span *spans, size_t count, pkb_spot *spot)
{
    return find(FIND_DIFFERENCE, spans, count, spot);
}

static uint64_t digest(const pkb_span *spans, size_t count, uint64_t key)
{
    const void *told = NULL;
    uint64_t found[2] = {0}; /* the sum, words looked at */
    pkb_span keyed[PKB_MAX_ARGUMENTS] = {0};

    if (count > PKB_MAX_ARGUMENTS) {
        pkb_compute_refuse(cuda.compute, partial);
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        keyed[i] = spans[i];
        keyed[i].key = key;
    }
    uint32_t blocks = tell_spans(keyed, count, 1, &told);
    if (blocks == 0)
        return 0;
    void *answer = pkb_compute_answer(cuda.compute, PKB_COMPUTE_ANSWER, sizeof found, 0);
    void *arguments[] = {&told, &answer};
    pkb_compute_launch(cuda.compute, DIGEST, blocks, (uint32_t)count, arguments);
    pkb_compute_read(cuda.compute, found, answer, sizeof found);
    if (found[1] != count_words(spans, count))
        pkb_compute_refuse(cuda.compute, partial);
    return found[0];
}

static void read(void *to, const void *from, size_t bytes)
{
    pkb_compute_read(cuda.compute, to, from, bytes);
}

/* ---- outputs ---- */

static pkb_kernel_output output_of(const pkb_comparison *c)
{
    uint64_t rows = c->row_count == 0 ? 1 : c->row_count;
    pkb_dtype dtype = pkb_survey_part_dtype(c->dtype);
    pkb_kernel_output output = {
        .out = address_of(c->out),
        .reference = address_of(c->reference),
        .oracle = address_of(c->oracle),
        .alternative = c->check == PKB_CHECK_QUANTIZED ? address_of(c->alternative) : 0,
        .parts = c->element_count * pkb_survey_parts(c->dtype),
        .rows = rows,
        .blocks = rows < PKB_COMPARE_BLOCKS ? rows : PKB_COMPARE_BLOCKS,
        .element_count = c->element_count,
        .element_bytes = pkb_dtype_bytes(c->dtype),
        .dtype = dtype,
        .parts_of_element = (uint32_t)pkb_survey_parts(c->dtype),
    };
    if (pkb_dtype_is_float(dtype)) {
        output.top = pkb_number_largest(dtype);
        output.smallest_unit = pkb_number_smallest(dtype);
    }
    return output;
}

static void add_largest(double *largest, size_t *at, double other, uint64_t other_at)
{
    if (other > *largest) {
        *largest = other;
        *at = other_at;
    }
}

/* Pieces come in the order of the elements, so that of equals the first one stays. */
static void add_piece(pkb_survey *s, size_t block, const pkb_kernel_piece *piece)
{
    s->out.block_sum[block] += piece->out_sum;
    s->reference.block_sum[block] += piece->reference_sum;
    s->oracle_sum += piece->oracle_sum;
    s->block_count[block] += piece->finite_count;
    s->part_count += piece->part_count;
    add_largest(&s->out.block_largest[block], &s->out.block_largest_at[block], piece->out_largest,
                piece->out_largest_at);
    add_largest(&s->reference.block_largest[block], &s->reference.block_largest_at[block],
                piece->reference_largest, piece->reference_largest_at);
    if (piece->non_finite_count > 0 && s->out.non_finite_count == 0)
        s->out.non_finite_at = piece->non_finite_at;
    s->out.non_finite_count += piece->non_finite_count;
}

static void survey(pkb_survey *out, const pkb_comparison *c)
{
    pkb_kernel_output output = output_of(c);
    uint64_t each = output.parts / output.blocks / (PKB_COMPUTE_THREADS * WORDS_A_THREAD) + 1;
    uint64_t most = SURVEY_BLOCKS / output.blocks;
    uint32_t pieces = (uint32_t)(each < most ? each : most), blocks = (uint32_t)output.blocks;
    size_t bytes = (size_t)pieces * blocks * sizeof(pkb_kernel_piece);
    pkb_kernel_piece *list = calloc(1, bytes);

    memset(out, 0, sizeof *out); /* of no part: an unfinished survey */
    if (list == NULL) {
        pkb_compute_refuse(cuda.compute, no_memory);
        return;
    }
    void *answer = pkb_compute_answer(cuda.compute, PKB_COMPUTE_ANSWER, bytes, 0);
    void *arguments[] = {&output, &answer};
    pkb_compute_launch(cuda.compute, SURVEY, pieces, blocks, arguments);
    pkb_compute_read(cuda.compute, list, answer, bytes);
    for (uint32_t i = 0; i < pieces * blocks; i++)
        add_piece(out, i / pieces, &list[i]);
    pkb_survey_close(out);
    free(list);
}

static pkb_tally tally(const pkb_comparison *c, pkb_tally_rule rule, double limit)
{
    pkb_kernel_output output = output_of(c);
    pkb_kernel_tally found = {0};
    uint64_t blocks = c->element_count / (PKB_COMPUTE_THREADS * WORDS_A_THREAD) + 1;

    output.rule = (uint32_t)rule;
    output.limit = limit;
    pkb_kernel_tally *answer =
        pkb_compute_answer(cuda.compute, PKB_COMPUTE_ANSWER, sizeof found, 0);
    pkb_compute_set(cuda.compute, &answer->first, 255, sizeof answer->first);
    void *arguments[] = {&output, &answer};
    pkb_compute_launch(cuda.compute, TALLY, blocks < MOST_BLOCKS ? (uint32_t)blocks : MOST_BLOCKS,
                       1, arguments);
    pkb_compute_read(cuda.compute, &found, answer, sizeof found);
    return (pkb_tally){.count = found.wrong_count,
                       .first = found.wrong_count == 0 ? 0 : found.first,
                       .element_count = found.element_count};
}

/* ---- samples ---- */

static void sample_prepare(const pkb_sample *samples, size_t count)
{
    cuda.places =
        pkb_compute_tell(cuda.compute, PKB_COMPUTE_PLACES, samples, count * sizeof *samples);
    cuda.samples =
        pkb_compute_answer(cuda.compute, PKB_COMPUTE_SAMPLES, count * sizeof(uint64_t), 0);
    cuda.sample_count = count;
}

static pkb_code sample_take(pkb_error *err)
{
    uint64_t count = cuda.sample_count;
    void *arguments[] = {&cuda.places, &count, &cuda.samples};
    uint32_t blocks = (uint32_t)(count / PKB_COMPUTE_THREADS + 1);
    pkb_compute_launch(cuda.compute, SAMPLE, blocks, 1, arguments);
    return pkb_compute_synchronise(cuda.compute, err);
}

static void sample_read(uint64_t *out)
{
    pkb_compute_read(cuda.compute, out, cuda.samples, cuda.sample_count * sizeof *out);
}

/* ---- who else is there ---- */

static pkb_code probe(uint64_t *took_ns, pkb_error *err)
{
    uint32_t steps = PROBE_STEPS;
    void *sink = pkb_compute_answer(cuda.compute, PKB_COMPUTE_ANSWER, sizeof(uint64_t), 0);
    void *arguments[] = {&steps, &sink};
    pkb_code rc = pkb_compute_synchronise(cuda.compute, err);
    const uint64_t begin_ns = pkb_clock_now_ns();

    if (rc != PKB_OK)
        return rc;
    pkb_compute_launch(cuda.compute, PROBE, PROBE_BLOCKS, 1, arguments);
    rc = pkb_compute_synchronise(cuda.compute, err);
    *took_ns = pkb_clock_now_ns() - begin_ns;
    return rc;
}

/* ---- health ---- */

static pkb_code synchronise(pkb_error *err)
{
    return pkb_compute_synchronise(cuda.compute, err);
}

/* Writes a pattern, sums it, and sums it once more on the host. */
static pkb_code check_arithmetic(pkb_error *err)
{
    static uint64_t ordinary[HEALTH_BYTES / sizeof(uint64_t)];
    uint64_t key = pkb_clock_now_ns();
    pkb_region region = PKB_REGION_NONE;
    pkb_code rc = pkb_gpu_region_create(&region, cuda.driver, cuda.gpu, HEALTH_BYTES, err);

    if (rc != PKB_OK)
        return rc;
    const pkb_span span = {.base = region.address, .end = HEALTH_BYTES, .key = key};
    fill(&span, 1);
    uint64_t sum = digest(&span, 1, key + 1);
    rc = synchronise(err);
    clear(&region);
    pkb_pattern_fill(ordinary, 0, HEALTH_BYTES, key);
    if (rc == PKB_OK && sum != pkb_pattern_digest(ordinary, 0, HEALTH_BYTES, key + 1))
        rc = pkb_error_set(err, PKB_ERR_CUDA, 0, "GPU %d computes wrong sums", cuda.gpu);
    return rc;
}

/* The driver takes a moment to clear up after a process. */
static pkb_code check_memory(uint64_t base_bytes, pkb_error *err)
{
    uint64_t used = 0;
    for (int i = 0; i < HEALTH_WAITS; i++) {
        used = used_bytes();
        if (used <= base_bytes + MEMORY_SLACK_BYTES)
            return PKB_OK;
        pkb_clock_sleep_ns(PKB_NS_PER_S / HEALTH_WAITS * 2);
    }
    return pkb_error_set(err, PKB_ERR_CUDA, 0,
                         "GPU %d: %llu MiB more are in use than before the attempt", cuda.gpu,
                         (unsigned long long)(used - base_bytes) >> 20);
}

static pkb_code check_health(uint64_t *in_use, pkb_error *err)
{
    pkb_code rc = check_arithmetic(err);

    if (rc == PKB_OK && *in_use != 0)
        return check_memory(*in_use, err);
    if (rc == PKB_OK)
        *in_use = used_bytes();
    return rc;
}

/* ---- the device ---- */

static const pkb_judge_device device = {
    .name = "cuda",
    .slot_count = 4,
    .footprint = FOOTPRINT_BYTES,
    .symmetric_top = PKB_SYMMETRIC_LIMIT_BYTES,
    .create = create,
    .clear = clear,
    .discard = zero,
    .available_bytes = available_bytes,
    .enough_bytes = ENOUGH_BYTES,
    .used_bytes = used_bytes,
    .fill = fill,
    .copy = copy,
    .find_damage = find_damage,
    .find_difference = find_difference,
    .digest = digest,
    .read = read,
    .survey = survey,
    .tally = tally,
    .sample_prepare = sample_prepare,
    .sample_take = sample_take,
    .sample_read = sample_read,
    .probe = probe,
    .synchronise = synchronise,
    .check_health = check_health,
};

pkb_code pkb_judge_device_cuda(const pkb_judge_device **out, struct pkb_driver *driver, int gpu,
                               pkb_error *err)
{
    cuda.driver = driver;
    cuda.gpu = gpu;
    pkb_code rc = pkb_compute_open(&cuda.compute, driver, gpu, pkb_kernels_ptx, kernel_names,
                                   KERNEL_COUNT, err);
    if (rc == PKB_OK)
        *out = &device;
    return rc;
}

void pkb_judge_device_cuda_close(void)
{
    pkb_compute_close(cuda.compute);
    cuda.compute = NULL;
}
