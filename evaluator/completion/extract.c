/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the code of a reply; see extract.h.
 */
#include "evaluator/completion/extract.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "evaluator/completion/fence.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const char entry_point[] = "pkb_run";

typedef struct span {
    const char *text;
    size_t bytes;
} span;

/* ---- words ---- */

pkb_finish pkb_finish_parse(const char *name)
{
    static const struct {
        const char *name;
        pkb_finish finish;
    } rows[] = {{"stop", PKB_FINISH_STOP},
                {"end_turn", PKB_FINISH_STOP},
                {"stop_sequence", PKB_FINISH_STOP},
                {"eos", PKB_FINISH_STOP},
                {"eos_token", PKB_FINISH_STOP},
                {"completed", PKB_FINISH_STOP},
                {"length", PKB_FINISH_LENGTH},
                {"max_tokens", PKB_FINISH_LENGTH},
                {"max_output_tokens", PKB_FINISH_LENGTH},
                {"model_length", PKB_FINISH_LENGTH},
                {"model_context_window_exceeded", PKB_FINISH_LENGTH}};

    for (size_t i = 0; name != NULL && i < COUNT(rows); i++)
        if (strcasecmp(name, rows[i].name) == 0)
            return rows[i].finish;
    return PKB_FINISH_UNKNOWN;
}

const char *pkb_extract_status_name(pkb_extract_status status)
{
    static const char *const names[] = {[PKB_EXTRACT_CODE] = "CODE",
                                        [PKB_EXTRACT_NO_CODE] = "NO_CODE",
                                        [PKB_EXTRACT_TRUNCATED] = "TRUNCATED"};
    return names[status];
}

static bool is_word_byte(char byte)
{
    return isalnum((unsigned char)byte) || byte == '_';
}

static bool is_white(char byte)
{
    return isspace((unsigned char)byte) != 0;
}

static bool is_blank(span text)
{
    for (size_t i = 0; i < text.bytes; i++)
        if (!is_white(text.text[i]))
            return false;
    return true;
}

static span skip_white(span text)
{
    while (text.bytes > 0 && is_white(text.text[0]))
        text = (span){text.text + 1, text.bytes - 1};
    return text;
}

static bool begins(span text, const char *word)
{
    const size_t bytes = strlen(word);
    return text.bytes >= bytes && memcmp(text.text, word, bytes) == 0;
}

/* Is the entry point called or defined: its name as a word, then a bracket? */
static bool holds_entry(span text)
{
    const char *end = text.text + text.bytes, *at = text.text;
    const size_t bytes = sizeof entry_point - 1;

    while ((at = memmem(at, (size_t)(end - at), entry_point, bytes)) != NULL) {
        const bool is_begin = at == text.text || !is_word_byte(at[-1]);
        at += bytes;
        const span rest = skip_white((span){at, (size_t)(end - at)});
        if (is_begin && begins(rest, "("))
            return true;
    }
    return false;
}

/* ---- reasoning ---- */

/* Removes what the reply begins with between <think> and </think>. False: it never ends. */
static bool cut_reasoning(span *reply)
{
    static const struct {
        const char *begin, *end;
    } tags[] = {{"<think>", "</think>"}, {"<thinking>", "</thinking>"}};

    for (size_t i = 0; i < COUNT(tags);) {
        const span text = skip_white(*reply);
        if (!begins(text, tags[i].begin)) {
            i++;
            continue;
        }
        const char *end = memmem(text.text, text.bytes, tags[i].end, strlen(tags[i].end));
        if (end == NULL)
            return false;
        end += strlen(tags[i].end);
        *reply = (span){end, (size_t)(text.text + text.bytes - end)};
        i = 0;
    }
    return true;
}

/* ---- labels ---- */

typedef enum label { LABEL_NONE, LABEL_CODE, LABEL_OTHER } label;

/* "cuda", "{.cuda}", "cuda:all.cu", "Cuda title=x", "all.cu". */
static label read_label(const pkb_fence_block *block)
{
    static const char *const names[] = {"cuda", "cu",       "cuh",      "c++",      "cpp",
                                        "cxx",  "cc",       "c",        "h",        "hpp",
                                        "hxx",  "cuda-cpp", "cuda-c++", "cuda_cpp", "cudacpp"};
    static const char suffix[] = ".cu";
    const char *at = block->info, *end = at + block->info_bytes;

    while (at < end && *at != '\0' && strchr(" \t\r{.", *at) != NULL)
        at++;
    size_t bytes = 0;
    while (at + bytes < end && at[bytes] != '\0' && strchr(" \t\r{},;:", at[bytes]) == NULL)
        bytes++;
    if (bytes == 0)
        return LABEL_NONE;
    for (size_t i = 0; i < COUNT(names); i++)
        if (strlen(names[i]) == bytes && strncasecmp(at, names[i], bytes) == 0)
            return LABEL_CODE;
    const size_t tail = sizeof suffix - 1;
    const bool is_file = bytes > tail && strncasecmp(at + bytes - tail, suffix, tail) == 0;
    return is_file ? LABEL_CODE : LABEL_OTHER;
}

/* ---- choosing ---- */

typedef struct candidate {
    pkb_fence_block block;
    size_t index; /* from 1; 0 = there is none */
    bool is_labelled, has_entry;
} candidate;

typedef struct survey {
    size_t block_count;
    candidate entry; /* the last complete one that holds the entry point */
    candidate last;  /* the last complete one that holds anything */
    candidate open;  /* the one in which the reply ends */
} survey;

static void note_block(survey *out, const pkb_fence_block *block)
{
    const span text = {block->text, block->bytes};
    const label found = read_label(block);
    const candidate one = {.block = *block,
                           .index = ++out->block_count,
                           .is_labelled = found == LABEL_CODE,
                           .has_entry = holds_entry(text)};

    if (found == LABEL_OTHER)
        return;
    if (!block->is_closed) {
        out->open = one;
        return;
    }
    if (one.has_entry)
        out->entry = one;
    if (!is_blank(text))
        out->last = one;
}

static survey look_at(span answer)
{
    pkb_fence_scan scan = pkb_fence_begin(answer.text, answer.bytes);
    pkb_fence_block block = {0};
    survey found = {0};

    while (pkb_fence_next(&scan, &block))
        note_block(&found, &block);
    return found;
}

/* A block that the model forgot to close is complete where it had said all. */
static bool is_open_complete(const survey *found, pkb_finish finish)
{
    const span text = {found->open.block.text, found->open.block.bytes};
    return found->open.index > 0 && finish == PKB_FINISH_STOP && !is_blank(text) &&
           (found->open.has_entry || found->entry.index == 0);
}

/* Was the answer under way? An open block of other use behind the answer does not count. */
static bool is_cut(const survey *found, pkb_finish finish)
{
    const candidate *open = &found->open;
    return open->index > 0 && finish != PKB_FINISH_STOP &&
           (open->is_labelled || open->has_entry || found->entry.index == 0);
}

/* Does a reply without a block of code consist of code? */
static bool is_code(span answer)
{
    static const char *const starts[] = {"#include",   "#pragma",    "#define", "extern",
                                         "__global__", "__device__", "//",      "/*"};
    const span text = skip_white(answer);

    for (size_t i = 0; i < COUNT(starts); i++)
        if (begins(text, starts[i]))
            return holds_entry(text);
    return false;
}

static pkb_extraction take(pkb_buf *code, const survey *found, const candidate *chosen,
                           const char *rule)
{
    pkb_fence_append(code, &chosen->block);
    return (pkb_extraction){.status = PKB_EXTRACT_CODE,
                            .rule = rule,
                            .block_count = found->block_count,
                            .block = chosen->index};
}

static pkb_extraction without_code(const survey *found, pkb_extract_status status, size_t block,
                                   const char *reason)
{
    return (pkb_extraction){.status = status,
                            .rule = "none",
                            .reason = reason,
                            .block_count = found->block_count,
                            .block = block};
}

static pkb_extraction choose(pkb_buf *code, span answer, const survey *found, pkb_finish finish)
{
    if (is_open_complete(found, finish))
        return take(code, found, &found->open, "unclosed_block");
    if (is_cut(found, finish)) {
        pkb_fence_append(code, &found->open.block);
        return without_code(found, PKB_EXTRACT_TRUNCATED, found->open.index,
                            finish == PKB_FINISH_LENGTH
                                ? "the reply reached its length limit within a block of code"
                                : "the reply ends within a block of code, and no finish_reason "
                                  "says that the model was done");
    }
    if (found->entry.index > 0)
        return take(code, found, &found->entry, "entry_point");
    if (finish == PKB_FINISH_LENGTH)
        return without_code(found, PKB_EXTRACT_TRUNCATED, 0,
                            "the reply reached its length limit before a complete block with "
                            "pkb_run");
    if (found->last.index > 0)
        return take(code, found, &found->last, "last_block");
    if (is_code(answer)) {
        pkb_buf_append(code, answer.text, answer.bytes);
        return (pkb_extraction){
            .status = PKB_EXTRACT_CODE, .rule = "whole_reply", .block_count = found->block_count};
    }
    return without_code(found, PKB_EXTRACT_NO_CODE, 0,
                        found->block_count > 0 ? "the reply has no block of CUDA or C++ code that "
                                                 "holds anything"
                                               : "the reply has no block of code");
}

pkb_extraction pkb_extract(pkb_buf *code, const char *reply, size_t bytes, pkb_finish finish)
{
    span answer = {reply, bytes};
    survey found = {0};

    if (!cut_reasoning(&answer))
        return without_code(
            &found, finish == PKB_FINISH_LENGTH ? PKB_EXTRACT_TRUNCATED : PKB_EXTRACT_NO_CODE, 0,
            "the reply ends within its reasoning");
    found = look_at(answer);
    return choose(code, answer, &found, finish);
}
