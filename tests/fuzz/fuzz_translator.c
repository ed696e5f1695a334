/* SPDX-License-Identifier: Apache-2.0
 *
 * Feeds the PTX translator with mutations of a corpus: fuzz_translator COUNT FILE... Deterministic:
 * input number n is the same in every run. The translator must accept or reject, never crash;
 * sanitizers watch. The mutation that a crash came from is in fuzz_translator.input.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "harness/cpu/translator/translator.h"
#include "tests/fuzz/mutation.h"

static const char *const words[] = {
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ";",
    ",",
    "@",
    "!",
    "|",
    ":",
    "<",
    ">",
    "-",
    "+",
    "0",
    "4294967295",
    "-1",
    "0f3F800000",
    "0x",
    "0d",
    "1.5",
    "18446744073709551616",
    ".reg",
    ".param",
    ".shared",
    ".local",
    ".global",
    ".const",
    ".align",
    ".b8",
    ".b128",
    ".pred",
    ".f32",
    ".v4",
    "%r1",
    "%p1",
    "%rd1",
    "%f1",
    "%tid.x",
    "%clock64",
    "_",
    ".entry",
    ".func",
    ".loc",
    ".file",
    ".section",
    "generic(",
    "0xFF(",
    "ld.global",
    "st.shared",
    "mov.b64",
    "bra",
    "call",
    "cvt.rn",
    "setp.lt",
    "atom.add",
    "brx.idx",
    "lop3",
    "inlined_at",
    "function_name",
    ".branchtargets",
    ".callprototype",
    "/*",
    "//",
    "\"",
    "\n",
    "$L__BB0_1",
    ".maxntid",
    ".extern",
    ".version",
};

static void keep(const pkb_buf *text)
{
    FILE *file = fopen("build-asan/fuzz_translator.input", "wbe");
    if (file == NULL)
        return;
    fwrite(text->data, 1, text->bytes, file);
    fclose(file);
}

/* True if the input was translated. */
static bool run_one(const pkb_mutation_corpus *all, uint64_t number, bool is_kept)
{
    pkb_buf text, code;
    pkb_error err = {0};

    pkb_mutation_seed(number);
    pkb_buf_init(&text);
    pkb_buf_init(&code);
    pkb_mutation_make(&text, all, pkb_mutation_pick(all->count));
    if (is_kept)
        keep(&text);
    char *exact = pkb_mutation_exact(&text);
    pkb_code rc = pkb_ptx_translate(exact, text.bytes, &code, &err);
    if (rc != PKB_OK && (rc != PKB_ERR_FORMAT || strstr(err.message, "line") == NULL)) {
        fprintf(stderr, "input %llu: %s\n", (unsigned long long)number, err.message);
        abort();
    }
    free(exact);
    pkb_buf_clear(&text);
    pkb_buf_clear(&code);
    return rc == PKB_OK;
}

int main(int argc, char **argv)
{
    static pkb_mutation_corpus all = {.words = words, .word_count = sizeof words / sizeof words[0]};
    unsigned long long count = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    const char *first_text = getenv("FIRST");
    unsigned long long first = first_text != NULL ? strtoull(first_text, NULL, 10) : 0;
    unsigned long long accepted = 0;
    bool is_kept = getenv("KEEP") != NULL;

    for (int i = 2; i < argc; i++)
        if (!pkb_mutation_load(&all, argv[i])) {
            fprintf(stderr, "cannot read %s\n", argv[i]);
            return 3;
        }
    if (count == 0 || all.count == 0) {
        fprintf(stderr, "usage: fuzz_translator COUNT FILE...\n");
        return 2;
    }
    time_t start = time(NULL);
    for (unsigned long long i = 0; i < count; i++) {
        accepted += run_one(&all, first + i, is_kept);
        if (i % 10000 == 9999)
            fprintf(stderr, "%llu inputs\n", i + 1);
    }
    double seconds = difftime(time(NULL), start);
    printf("%llu inputs, %llu translated, %llu rejected, no crash, %.0f a second\n", count,
           accepted, count - accepted, (double)count / (seconds < 1 ? 1 : seconds));
    pkb_mutation_clear(&all);
    return 0;
}
