/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of evaluator/completion/extract.c and fence.c: awkward replies, and properties of all of
 * them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/stats.h"
#include "evaluator/completion/extract.h"
#include "evaluator/completion/fence.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define RUN "int pkb_run(void) { return 0; }\n"
#define SKETCH "// sketch: one kernel\n"

typedef struct reply_case {
    const char *name, *reply;
    pkb_finish finish;
    pkb_extract_status status;
    const char *rule, *code;
    size_t blocks, block;
} reply_case;

static const reply_case cases[] = {
    {"a sketch, then the answer",
     "First:\n```cuda\n" SKETCH "```\nNow:\n```cuda\n" RUN "```\nDone.\n", PKB_FINISH_STOP,
     PKB_EXTRACT_CODE, "entry_point", RUN, 2, 2},
    {"the answer, then how it is called",
     "```cuda\n" RUN "```\n```cuda\n" SKETCH "```\n```python\npkb_run()\n```\n", PKB_FINISH_STOP,
     PKB_EXTRACT_CODE, "entry_point", RUN, 3, 1},
    {"a draft with the entry point, then a better one",
     "```cuda\nint pkb_run(int);\n```\n```cuda\n" RUN "```\n", PKB_FINISH_STOP, PKB_EXTRACT_CODE,
     "entry_point", RUN, 2, 2},
    {"cut within the block", "Here:\n```cuda\nint pkb_run(void) {", PKB_FINISH_LENGTH,
     PKB_EXTRACT_TRUNCATED, "none", "int pkb_run(void) {", 1, 1},
    {"never closed, but done", "Here:\n```cuda\n" RUN, PKB_FINISH_STOP, PKB_EXTRACT_CODE,
     "unclosed_block", RUN, 1, 1},
    {"never closed, and nobody says whether done", "```cuda\n" RUN, PKB_FINISH_UNKNOWN,
     PKB_EXTRACT_TRUNCATED, "none", RUN, 1, 1},
    {"a complete draft, and the answer is cut", "```cuda\n" RUN "```\nBetter:\n```cuda\nint pkb",
     PKB_FINISH_LENGTH, PKB_EXTRACT_TRUNCATED, "none", "int pkb", 2, 2},
    {"the answer, and what it would print is cut", "```cuda\n" RUN "```\nIt prints\n```\nok",
     PKB_FINISH_LENGTH, PKB_EXTRACT_CODE, "entry_point", RUN, 2, 1},
    {"the answer, and a command is cut", "```cuda\n" RUN "```\n```bash\nnvcc", PKB_FINISH_LENGTH,
     PKB_EXTRACT_CODE, "entry_point", RUN, 2, 1},
    {"the answer, and prose is cut", "```cuda\n" RUN "```\nThis ker", PKB_FINISH_LENGTH,
     PKB_EXTRACT_CODE, "entry_point", RUN, 1, 1},
    {"a sketch, and the answer never comes", "```cuda\n" SKETCH "```\nNow I wr", PKB_FINISH_LENGTH,
     PKB_EXTRACT_TRUNCATED, "none", "", 1, 0},
    {"a label of C++", "```C++\n" RUN "```", PKB_FINISH_STOP, PKB_EXTRACT_CODE, "entry_point", RUN,
     1, 1},
    {"a label in capitals", "```CUDA\n" RUN "```", PKB_FINISH_STOP, PKB_EXTRACT_CODE, "entry_point",
     RUN, 1, 1},
    {"no label", "```\n" RUN "```", PKB_FINISH_STOP, PKB_EXTRACT_CODE, "entry_point", RUN, 1, 1},
    {"a label with attributes", "```cuda title=\"x.cu\" hl_lines=1\n" RUN "```", PKB_FINISH_STOP,
     PKB_EXTRACT_CODE, "entry_point", RUN, 1, 1},
    {"a label in braces", "```{.cuda .numberLines}\n" RUN "```", PKB_FINISH_STOP, PKB_EXTRACT_CODE,
     "entry_point", RUN, 1, 1},
    {"a label with a name of a file", "```cpp:src/x.cu\n" RUN "```", PKB_FINISH_STOP,
     PKB_EXTRACT_CODE, "entry_point", RUN, 1, 1},
    {"a name of a file as label", "``` src/x.cu\n" RUN "```", PKB_FINISH_STOP, PKB_EXTRACT_CODE,
     "entry_point", RUN, 1, 1},
    {"another language only", "```python\nimport x\npkb_run()\n```", PKB_FINISH_STOP,
     PKB_EXTRACT_NO_CODE, "none", "", 1, 0},
    {"fences within comments and strings",
     "```cuda\n// use ```cuda\n/* ``` */ const char *s = \"```\";\n```c\n``` x\n" RUN "```\n",
     PKB_FINISH_STOP, PKB_EXTRACT_CODE, "entry_point",
     "// use ```cuda\n/* ``` */ const char *s = \"```\";\n```c\n``` x\n" RUN, 1, 1},
    {"tildes", "~~~cuda\n```\n" RUN "~~\n~~~\n", PKB_FINISH_STOP, PKB_EXTRACT_CODE, "entry_point",
     "```\n" RUN "~~\n", 1, 1},
    {"four backticks", "````cuda\n```\n" RUN "```\n`````  \n", PKB_FINISH_STOP, PKB_EXTRACT_CODE,
     "entry_point", "```\n" RUN "```\n", 1, 1},
    {"a refusal", "I cannot help with pkb_run() today.", PKB_FINISH_STOP, PKB_EXTRACT_NO_CODE,
     "none", "", 0, 0},
    {"nothing at all", "", PKB_FINISH_STOP, PKB_EXTRACT_NO_CODE, "none", "", 0, 0},
    {"nothing before the limit", "", PKB_FINISH_LENGTH, PKB_EXTRACT_TRUNCATED, "none", "", 0, 0},
    {"an empty block", "```cuda\n```\n", PKB_FINISH_STOP, PKB_EXTRACT_NO_CODE, "none", "", 1, 0},
    {"a blank block behind one without the entry point",
     "```cuda\n" SKETCH "```\n```cuda\n \n```\n", PKB_FINISH_STOP, PKB_EXTRACT_CODE, "last_block",
     SKETCH, 2, 1},
    {"a draft in the reasoning",
     " \n<think>\n```cuda\nint pkb_run(draft);\n</think>\n<think></think>\n```cuda\n" RUN "```\n",
     PKB_FINISH_STOP, PKB_EXTRACT_CODE, "entry_point", RUN, 1, 1},
    {"a draft in the reasoning, and no answer",
     "<think>\n```cuda\n" RUN "```\n</think>\nI give up.", PKB_FINISH_STOP, PKB_EXTRACT_NO_CODE,
     "none", "", 0, 0},
    {"reasoning without end", "<think>\n```cuda\n" RUN "```\n", PKB_FINISH_STOP,
     PKB_EXTRACT_NO_CODE, "none", "", 0, 0},
    {"reasoning that is cut", "<think>\n```cuda\n" RUN "```\n", PKB_FINISH_LENGTH,
     PKB_EXTRACT_TRUNCATED, "none", "", 0, 0},
    {"code that begins like a label", "```\ncuda_x y;\n" RUN "```\n", PKB_FINISH_STOP,
     PKB_EXTRACT_CODE, "entry_point", "cuda_x y;\n" RUN, 1, 1},
    {"ends of lines as in DOS", "Here:\r\n```cuda\r\nint a;\r\n\r\n" RUN "```\r\n", PKB_FINISH_STOP,
     PKB_EXTRACT_CODE, "entry_point", "int a;\n\n" RUN, 1, 1},
    {"indented", "  ```cuda\n  int a;\n    int b;\n int c;\n  " RUN "  ```\n", PKB_FINISH_STOP,
     PKB_EXTRACT_CODE, "entry_point", "int a;\n  int b;\nint c;\n" RUN, 1, 1},
    {"in an item of a list", "10. Do:\n\n    ```cuda\n    " RUN "    ```\n", PKB_FINISH_STOP,
     PKB_EXTRACT_CODE, "entry_point", RUN, 1, 1},
    {"on the line of an item", "- * ```cuda\n    " RUN "    ```\n", PKB_FINISH_STOP,
     PKB_EXTRACT_CODE, "entry_point", RUN, 1, 1},
    {"indented as code is no fence", "Say:\n\n    ```cuda\n    " RUN "    ```\n", PKB_FINISH_STOP,
     PKB_EXTRACT_NO_CODE, "none", "", 0, 0},
    {"a list that ended", "- a\n\nSay:\n\n    ```cuda\n    " RUN "    ```\n", PKB_FINISH_STOP,
     PKB_EXTRACT_NO_CODE, "none", "", 0, 0},
    {"fences within a line", "Use ```cuda pkb_run()``` or\n```cuda``` here.\n", PKB_FINISH_STOP,
     PKB_EXTRACT_NO_CODE, "none", "", 0, 0},
    {"nothing but code", "\n#include <x.h>\n" RUN, PKB_FINISH_STOP, PKB_EXTRACT_CODE, "whole_reply",
     "\n#include <x.h>\n" RUN, 0, 0},
    {"nothing but code, and cut", "#include <x.h>\n" RUN, PKB_FINISH_LENGTH, PKB_EXTRACT_TRUNCATED,
     "none", "", 0, 0},
    {"a name that only holds the entry point's",
     "```cuda\n" RUN "```\n```cuda\nmy_pkb_run(); pkb_run2(); pkb_run;\n```\n", PKB_FINISH_STOP,
     PKB_EXTRACT_CODE, "entry_point", RUN, 2, 1},
};

static void awkward_replies(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const reply_case *at = &cases[i];
        pkb_buf code = {0};
        const pkb_extraction found = pkb_extract(&code, at->reply, strlen(at->reply), at->finish);

        print_message("%s\n", at->name);
        assert_int_equal(found.status, at->status);
        assert_string_equal(found.rule, at->rule);
        assert_string_equal(pkb_buf_text(&code), at->code);
        assert_int_equal(found.block_count, at->blocks);
        assert_int_equal(found.block, at->block);
        assert_true((found.reason == NULL) == (found.status == PKB_EXTRACT_CODE));
        pkb_buf_clear(&code);
    }
}

static void finish_reasons_of_the_usual_servers(void **state)
{
    (void)state;
    assert_int_equal(pkb_finish_parse("stop"), PKB_FINISH_STOP);
    assert_int_equal(pkb_finish_parse("end_turn"), PKB_FINISH_STOP);
    assert_int_equal(pkb_finish_parse("MAX_TOKENS"), PKB_FINISH_LENGTH);
    assert_int_equal(pkb_finish_parse("length"), PKB_FINISH_LENGTH);
    assert_int_equal(pkb_finish_parse("content_filter"), PKB_FINISH_UNKNOWN);
    assert_int_equal(pkb_finish_parse(NULL), PKB_FINISH_UNKNOWN);
}

/* ---- properties ---- */

static uint64_t draw(uint64_t *seed, uint64_t below)
{
    return pkb_random_next(seed) % below;
}

/* Lines that resemble fences, reasoning and code; whether one closes a fence is asked below. */
static void draw_text(pkb_buf *out, uint64_t *seed)
{
    static const char *const pieces[] = {"```",     "````", "~~~",      "`",       "~",        " ",
                                         "    ",    "\t",   "\r",       "cuda",    "{}",       "- ",
                                         "1. ",     "\\",   "\xff",     "<think>", "</think>", "> ",
                                         "pkb_run", "(",    "#include", "// ",     "python"};
    const uint64_t lines = draw(seed, 8);

    for (uint64_t line = 0; line < lines; line++) {
        for (uint64_t count = draw(seed, 5); count > 0; count--)
            pkb_buf_append_string(out, pieces[draw(seed, COUNT(pieces))]);
        pkb_buf_append_byte(out, '\n');
    }
}

/* By the words of CommonMark, not by the code under test. */
static bool closes(const char *line, size_t bytes, const char *fence)
{
    size_t at = 0, length = 0;
    while (at < bytes && line[at] == ' ')
        at++;
    while (at + length < bytes && line[at + length] == fence[0])
        length++;
    if (at > 3 || length < strlen(fence))
        return false;
    for (at += length; at < bytes; at++)
        if (line[at] != ' ' && line[at] != '\t' && line[at] != '\r')
            return false;
    return true;
}

static bool holds_closing(const pkb_buf *text, const char *fence)
{
    const char *at = pkb_buf_text(text), *end = at + text->bytes;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        if (closes(at, (size_t)(newline - at), fence))
            return true;
        at = newline + 1;
    }
    return false;
}

static void make_reply(pkb_buf *reply, const pkb_buf *text, const char *fence)
{
    pkb_buf_printf(reply, "Some words.\n\n%scuda\n", fence);
    pkb_buf_append(reply, pkb_buf_text(text), text->bytes);
    pkb_buf_printf(reply, "%s\nMore words.\n", fence);
}

/* Whatever is left of the reply, it gives the text, a beginning of it, or none. */
static void check_prefixes(const pkb_buf *reply, const pkb_buf *text)
{
    static const pkb_finish finishes[] = {PKB_FINISH_UNKNOWN, PKB_FINISH_STOP, PKB_FINISH_LENGTH};

    for (size_t bytes = 0; bytes < reply->bytes; bytes++)
        for (size_t i = 0; i < COUNT(finishes); i++) {
            pkb_buf code = {0};
            const pkb_extraction found =
                pkb_extract(&code, pkb_buf_text(reply), bytes, finishes[i]);
            if (found.status == PKB_EXTRACT_NO_CODE)
                assert_int_equal(code.bytes, 0);
            /* An opening line that is cut may say another label; a closing line may be cut, too. */
            const size_t known = code.bytes < text->bytes ? code.bytes : text->bytes;
            assert_memory_equal(pkb_buf_text(&code), pkb_buf_text(text), known);
            if (found.status == PKB_EXTRACT_CODE && found.rule[0] != 'u')
                assert_true(code.bytes <= text->bytes);
            pkb_buf_clear(&code);
        }
}

static void a_block_comes_out_byte_for_byte(void **state)
{
    static const char *const fences[] = {"```", "````", "~~~", "~~~~~"};
    uint64_t seed = 7;
    size_t checked = 0;

    (void)state;
    for (int round = 0; round < 4000; round++) {
        const char *fence = fences[draw(&seed, COUNT(fences))];
        pkb_buf text = {0}, reply = {0}, code = {0};

        draw_text(&text, &seed);
        pkb_buf_append_string(&text, RUN);
        if (!holds_closing(&text, fence)) {
            make_reply(&reply, &text, fence);
            const pkb_extraction found =
                pkb_extract(&code, pkb_buf_text(&reply), reply.bytes, PKB_FINISH_UNKNOWN);
            assert_int_equal(found.status, PKB_EXTRACT_CODE);
            assert_string_equal(found.rule, "entry_point");
            assert_int_equal(code.bytes, text.bytes);
            assert_memory_equal(pkb_buf_text(&code), pkb_buf_text(&text), text.bytes);
            if (round % 20 == 0)
                check_prefixes(&reply, &text);
            checked++;
        }
        pkb_buf_clear(&text);
        pkb_buf_clear(&reply);
        pkb_buf_clear(&code);
    }
    assert_true(checked > 2000);
}

/* Any bytes at all: what comes out is a part of what went in, and blocks lie within the text. */
static void any_text_is_taken(void **state)
{
    uint64_t seed = 11;

    (void)state;
    for (int round = 0; round < 4000; round++) {
        pkb_buf reply = {0}, code = {0};
        draw_text(&reply, &seed);
        draw_text(&reply, &seed);
        pkb_fence_scan scan = pkb_fence_begin(pkb_buf_text(&reply), reply.bytes);
        pkb_fence_block block = {0};
        size_t blocks = 0;
        while (pkb_fence_next(&scan, &block)) {
            assert_true(block.text >= pkb_buf_text(&reply));
            assert_true(block.text + block.bytes <= pkb_buf_text(&reply) + reply.bytes);
            blocks++;
        }
        const pkb_extraction found =
            pkb_extract(&code, pkb_buf_text(&reply), reply.bytes, (pkb_finish)draw(&seed, 3));
        assert_true(code.bytes <= reply.bytes);
        assert_true(found.block_count <= blocks || strstr(pkb_buf_text(&reply), "think>") != NULL);
        assert_true(found.block <= found.block_count);
        pkb_buf_clear(&reply);
        pkb_buf_clear(&code);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(awkward_replies),
        cmocka_unit_test(finish_reasons_of_the_usual_servers),
        cmocka_unit_test(a_block_comes_out_byte_for_byte),
        cmocka_unit_test(any_text_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
