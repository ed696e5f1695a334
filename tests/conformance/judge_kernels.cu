// SPDX-License-Identifier: Apache-2.0
//
// The judge's own kernels on the CPU device, against plain loops here: what they find, and that
// they say how much they looked at. Launched as harness/judge/device_cuda.c does.
#include "check.cuh"

#include "harness/judge/kernels.cu"

enum { COLUMNS = 37, SPANS = 3, BYTES = 1 << 16 };

// Right but for the last element and a place where only the oracle is infinite.
struct Output {
    Array<float> out, reference;
    Array<double> oracle;
    pkb_kernel_output told;

    explicit Output(size_t rows)
        : out(rows * COLUMNS), reference(rows * COLUMNS), oracle(rows * COLUMNS), told()
    {
        for (size_t i = 0; i < out.count; i++) {
            out[i] = reference[i] = (float)i;
            oracle[i] = (double)i;
        }
        out[out.count - 1] = -1;
        oracle[3] = INFINITY;
        out.up();
        reference.up();
        oracle.up();
        told.out = (uint64_t)out.device;
        told.reference = (uint64_t)reference.device;
        told.oracle = (uint64_t)oracle.device;
        told.parts = told.element_count = out.count;
        told.rows = rows;
        told.blocks = rows < PKB_COMPARE_BLOCKS ? rows : PKB_COMPARE_BLOCKS;
        told.element_bytes = sizeof(float);
        told.dtype = PKB_F32;
        told.parts_of_element = 1;
        told.top = 3.4028234663852886e38;
        told.smallest_unit = 1.401298464324817e-45;
    }
};

static void check_survey(const Output &output, unsigned pieces)
{
    const pkb_kernel_output &o = output.told;
    Array<pkb_kernel_piece> list(pieces * o.blocks);
    pkb_kernel_piece all = {};

    pkb_survey_output<<<dim3(pieces, (unsigned)o.blocks), threads>>>(o, list.device);
    list.down();
    for (size_t i = 0; i < list.count; i++) {
        all.part_count += list[i].part_count;
        all.finite_count += list[i].finite_count;
        all.non_finite_count += list[i].non_finite_count;
        all.reference_sum += list[i].reference_sum;
        all.out_largest = fmax(all.out_largest, list[i].out_largest);
    }
    EXPECT(all.part_count == o.parts, "%zu parts of %zu", all.part_count, o.parts);
    EXPECT(all.finite_count == o.parts - 1 && all.non_finite_count == 1, "%zu finite, %zu not",
           all.finite_count, all.non_finite_count);
    EXPECT(all.out_largest == (double)o.parts && all.reference_sum == 0, "largest %g, sum %g",
           all.out_largest, all.reference_sum);
}

static void surveys_look_at_every_part()
{
    for (size_t rows : {1, 7, 64, 100}) {
        Output output(rows);
        for (unsigned pieces : {1, 3, 16})
            check_survey(output, pieces);
    }
}

static void tallies_look_at_every_element()
{
    for (unsigned blocks : {1, 4, 40}) {
        Output output(100);
        Array<pkb_kernel_tally> tally(1);
        output.told.rule = PKB_TALLY_BEYOND;
        output.told.limit = 0.5;
        tally[0].first = UINT64_MAX;
        tally.up();
        pkb_tally_output<<<blocks, threads>>>(output.told, tally.device);
        tally.down();
        EXPECT(tally[0].element_count == output.out.count, "%zu elements of %zu",
               tally[0].element_count, output.out.count);
        EXPECT(tally[0].wrong_count == 2 && tally[0].first == 3, "%zu wrong, the first %zu",
               tally[0].wrong_count, tally[0].first);
    }
}

// Two spans that begin and end within words, and an empty one between them.
struct Spans {
    Array<unsigned char> bytes, others;
    Array<pkb_kernel_span> list;
    word words;

    Spans() : bytes(BYTES), others(BYTES), list(SPANS), words(1001 / 8 + 1 + 60001 / 8 + 1 - 250)
    {
        const uint64_t begins[] = {3, 1009, 2000}, ends[] = {1001, 1009, 60001};
        bytes.up();
        others.up();
        for (uint64_t i = 0; i < SPANS; i++)
            list[i] = {(uint64_t)bytes.device, begins[i], ends[i], 7 + i, (uint64_t)others.device};
        list.up();
    }
};

static void expect_found(Array<word> &found, const Spans &spans, word first, word last)
{
    found.down();
    EXPECT(found[0] == first && found[1] == ~0ULL && found[2] == last, "%llu, %llu, %llu", found[0],
           found[1], found[2]);
    EXPECT(found[SPANS] == spans.words, "%llu words of %llu", found[SPANS], spans.words);
    for (int i = 0; i < SPANS; i++)
        found[i] = ~0ULL;
    found[SPANS] = 0;
    found.up();
}

static void searches_look_at_every_word()
{
    for (unsigned blocks : {1, 5}) {
        const dim3 grid(blocks, SPANS);
        Spans spans;
        Array<word> found(SPANS + 1), digest(2);
        memset(found.host, 255, SPANS * sizeof(word));
        found.up();
        digest.up();

        pkb_find_difference<<<grid, threads>>>(spans.list.device, found.device);
        expect_found(found, spans, ~0ULL, ~0ULL);
        pkb_fill_spans<<<grid, threads>>>(spans.list.device);
        pkb_find_damage<<<grid, threads>>>(spans.list.device, found.device);
        expect_found(found, spans, ~0ULL, ~0ULL);
        EXPECT_OK(cudaMemset(spans.bytes.device + 60000, 0, 1));
        pkb_find_damage<<<grid, threads>>>(spans.list.device, found.device);
        expect_found(found, spans, ~0ULL, 60000);
        pkb_find_difference<<<grid, threads>>>(spans.list.device, found.device);
        expect_found(found, spans, 3, 2000);
        pkb_digest_spans<<<grid, threads>>>(spans.list.device, digest.device);
        digest.down();
        EXPECT(digest[1] == spans.words && digest[0] != 0, "%llu words", digest[1]);
    }
}

MAIN(CASE(surveys_look_at_every_part), CASE(tallies_look_at_every_element),
     CASE(searches_look_at_every_word))
