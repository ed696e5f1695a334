/* SPDX-License-Identifier: Apache-2.0
 *
 * Feeds the PTX translator with mutations of a corpus: fuzz_translator COUNT FILE... Deterministic:
 * input number n is the same in every run. The translator must accept or reject, never crash;
 * sanitizers watch. The mutation that a crash came from is in fuzz_translator.input.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "harness/cpu/translator/translator.h"

enum { MAX_FILES = 64, MAX_MUTATIONS = 4, MAX_PIECE = 64 };

typedef struct corpus {
    pkb_buf files[MAX_FILES];
    size_t count;
} corpus;

static uint64_t state;

static size_t pick(size_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return limit == 0 ? 0 : (size_t)(state % limit);
}

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

static void replace(pkb_buf *text, size_t at, size_t length, const char *with, size_t bytes)
{
    pkb_buf next;
    pkb_buf_init(&next);
    pkb_buf_append(&next, text->data, at);
    pkb_buf_append(&next, with, bytes);
    pkb_buf_append(&next, text->data + at + length, text->bytes - at - length);
    pkb_buf_clear(text);
    *text = next;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || strchr("_$%.:", c) != NULL;
}

/* The start of a word of the text and its length; dots belong to it or not at random. */
static size_t pick_word(const pkb_buf *text, size_t *out_length)
{
    size_t at = pick(text->bytes), end;
    while (at > 0 && !(is_word(text->data[at]) && text->data[at] != '\0'))
        at--;
    while (at > 0 && is_word(text->data[at - 1]) && (text->data[at] != '.' || pick(2) == 0))
        at--;
    for (end = at; end < text->bytes && is_word(text->data[end]); end++)
        if (end > at && text->data[end] == '.' && pick(2) == 0)
            break;
    *out_length = end - at;
    return at;
}

/* Mostly still valid, so that it reaches the emitters: a word in another's place. */
static void swap_words(pkb_buf *text, const corpus *all)
{
    const pkb_buf *source = pick(3) == 0 ? &all->files[pick(all->count)] : text;
    char copy[MAX_PIECE];
    size_t length, source_length;

    if (text->bytes == 0 || source->bytes == 0)
        return;
    size_t from = pick_word(source, &source_length), at = pick_word(text, &length);
    if (source_length > sizeof copy)
        return;
    memcpy(copy, source->data + from, source_length);
    replace(text, at, length, copy, source_length);
}

static void mutate(pkb_buf *text, const corpus *all)
{
    if (pick(5) < 3) {
        swap_words(text, all);
        return;
    }
    size_t at = pick(text->bytes + 1);
    size_t length = pick(MAX_PIECE);
    const char *word = words[pick(sizeof words / sizeof words[0])];
    const pkb_buf *other = &all->files[pick(all->count)];
    size_t from = pick(other->bytes);
    char byte = (char)pick(256);

    if (length > text->bytes - at)
        length = text->bytes - at;
    switch (pick(6)) {
    case 0:
        replace(text, at, at < text->bytes, &byte, 1);
        break;
    case 1:
        replace(text, at, length, "", 0);
        break;
    case 2:
        replace(text, at, 0, word, strlen(word));
        break;
    case 3:
        replace(text, at, length, word, strlen(word));
        break;
    case 4: /* a piece of another file */
        replace(text, at, length, other->data + from,
                other->bytes - from < 4 * length ? other->bytes - from : 4 * length);
        break;
    default: /* cut off the end */
        if (pick(8) == 0)
            replace(text, at, text->bytes - at, "", 0);
        break;
    }
}

static bool load(pkb_buf *out, const char *path)
{
    char block[4096];
    size_t length;
    FILE *file = fopen(path, "rbe");

    if (file == NULL)
        return false;
    while ((length = fread(block, 1, sizeof block, file)) > 0)
        pkb_buf_append(out, block, length);
    fclose(file);
    return out->bytes > 0;
}

static void keep(const pkb_buf *text)
{
    FILE *file = fopen("build-asan/fuzz_translator.input", "wbe");
    if (file == NULL)
        return;
    fwrite(text->data, 1, text->bytes, file);
    fclose(file);
}

/* True if the input was translated. */
static bool run_one(const corpus *all, uint64_t number, bool is_kept)
{
    pkb_buf text, code;
    pkb_error err = {0};

    state = number * 0x9e3779b97f4a7c15u + 88172645463325252u;
    pkb_buf_init(&text);
    pkb_buf_init(&code);
    const pkb_buf *source = &all->files[pick(all->count)];
    pkb_buf_append(&text, source->data, source->bytes);
    for (size_t i = 1 + pick(MAX_MUTATIONS); i > 0; i--)
        mutate(&text, all);
    if (is_kept)
        keep(&text);
    /* A copy of the exact size, so that the sanitizer sees a read past its end. */
    char *exact = malloc(text.bytes == 0 ? 1 : text.bytes);
    if (exact == NULL)
        abort();
    if (text.bytes > 0)
        memcpy(exact, text.data, text.bytes);
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
    static corpus all;
    unsigned long long count = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    const char *first_text = getenv("FIRST");
    unsigned long long first = first_text != NULL ? strtoull(first_text, NULL, 10) : 0;
    unsigned long long accepted = 0;
    bool is_kept = getenv("KEEP") != NULL;

    for (int i = 2; i < argc && all.count < MAX_FILES; i++)
        if (!load(&all.files[all.count++], argv[i])) {
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
    for (size_t i = 0; i < all.count; i++)
        pkb_buf_clear(&all.files[i]);
    return 0;
}
