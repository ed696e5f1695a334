/* SPDX-License-Identifier: Apache-2.0
 *
 * Mutates texts; see mutation.h.
 */
#include "tests/fuzz/mutation.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_MUTATIONS = 4, MAX_PIECE = 64 };

static uint64_t state;

void pkb_mutation_seed(uint64_t number)
{
    state = number * 0x9e3779b97f4a7c15u + 88172645463325252u;
}

size_t pkb_mutation_pick(size_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return limit == 0 ? 0 : (size_t)(state % limit);
}

static size_t pick(size_t limit)
{
    return pkb_mutation_pick(limit);
}

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
static void swap_words(pkb_buf *text, const pkb_mutation_corpus *all)
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

static void mutate(pkb_buf *text, const pkb_mutation_corpus *all)
{
    if (pick(5) < 3) {
        swap_words(text, all);
        return;
    }
    size_t at = pick(text->bytes + 1);
    size_t length = pick(MAX_PIECE);
    const char *word = all->words[pick(all->word_count)];
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

void pkb_mutation_make(pkb_buf *out, const pkb_mutation_corpus *all, size_t file)
{
    pkb_buf_append(out, all->files[file].data, all->files[file].bytes);
    for (size_t i = 1 + pick(MAX_MUTATIONS); i > 0; i--)
        mutate(out, all);
}

char *pkb_mutation_exact(const pkb_buf *text)
{
    char *exact = malloc(text->bytes == 0 ? 1 : text->bytes);
    if (exact == NULL)
        abort();
    if (text->bytes > 0)
        memcpy(exact, text->data, text->bytes);
    return exact;
}

bool pkb_mutation_load(pkb_mutation_corpus *out, const char *path)
{
    char block[4096];
    size_t length;
    FILE *file = out->count < PKB_MUTATION_FILES ? fopen(path, "rbe") : NULL;

    if (file == NULL)
        return false;
    pkb_buf *text = &out->files[out->count++];
    while ((length = fread(block, 1, sizeof block, file)) > 0)
        pkb_buf_append(text, block, length);
    fclose(file);
    return text->bytes > 0;
}

void pkb_mutation_clear(pkb_mutation_corpus *corpus)
{
    for (size_t i = 0; i < corpus->count; i++)
        pkb_buf_clear(&corpus->files[i]);
}
