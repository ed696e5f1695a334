/* SPDX-License-Identifier: Apache-2.0
 *
 * base/lines.c: lines of any length come whole, or not at all.
 */
#include "base/lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"

static char folder[] = "/tmp/pkb-lines-XXXXXX";
static char path[64];

static void open_text(pkb_lines *lines, const char *text, size_t bytes, size_t limit_bytes)
{
    assert_int_equal(pkb_fs_replace(path, text, bytes, NULL), PKB_OK);
    assert_int_equal(pkb_lines_open(lines, path, limit_bytes, NULL), PKB_OK);
}

static pkb_line next(pkb_lines *lines)
{
    pkb_line line = {0};
    assert_int_equal(pkb_lines_next(lines, &line, NULL), PKB_OK);
    return line;
}

static void demand(pkb_lines *lines, const char *text, size_t number, bool is_whole)
{
    const pkb_line line = next(lines);
    assert_non_null(line.text);
    assert_int_equal(line.bytes, strlen(text));
    assert_memory_equal(line.text, text, line.bytes);
    assert_int_equal(line.number, number);
    assert_int_equal(line.is_whole, is_whole);
    assert_false(line.is_too_long);
}

static void demand_end(pkb_lines *lines)
{
    assert_null(next(lines).text);
    assert_null(next(lines).text);
    pkb_lines_close(lines);
}

static void lines_come_in_order_and_the_last_may_lack_its_end(void **state)
{
    static const char text[] = "one\n\nthree\nfour";
    pkb_lines lines = PKB_LINES_NONE;
    (void)state;
    open_text(&lines, text, strlen(text), 100);
    demand(&lines, "one", 1, true);
    demand(&lines, "", 2, true);
    demand(&lines, "three", 3, true);
    demand(&lines, "four", 4, false);
    demand_end(&lines);
    open_text(&lines, "", 0, 100);
    demand_end(&lines);
}

/* Longer than the first buffer, and across its end. */
static void long_lines_are_whole(void **state)
{
    enum { BYTES = 900000 };
    char *text = malloc(2 * BYTES + 10);
    pkb_lines lines = PKB_LINES_NONE;
    (void)state;
    assert_non_null(text);
    memset(text, 'a', BYTES);
    text[BYTES] = '\n';
    memset(text + BYTES + 1, 'b', BYTES);
    strcpy(text + 2 * BYTES + 1, "\nend\n");
    open_text(&lines, text, 2 * BYTES + 6, 2 * BYTES);
    pkb_line line = next(&lines);
    assert_int_equal(line.bytes, BYTES);
    assert_memory_equal(line.text, text, BYTES);
    line = next(&lines);
    assert_int_equal(line.bytes, BYTES);
    assert_memory_equal(line.text, text + BYTES + 1, BYTES);
    demand(&lines, "end", 3, true);
    demand_end(&lines);
    free(text);
}

static void too_long_lines_are_passed_over(void **state)
{
    enum { BYTES = 3000000 };
    char *text = malloc(2 * BYTES);
    pkb_lines lines = PKB_LINES_NONE;
    (void)state;
    assert_non_null(text);
    memset(text, 'a', 2 * BYTES);
    strcpy(text + BYTES, "\nnext\n");
    text[BYTES + 6] = 'a';
    open_text(&lines, text, 2 * BYTES, 1000);
    pkb_line line = next(&lines);
    assert_true(line.is_too_long && line.is_whole && line.bytes == 0 && line.text != NULL);
    assert_true(lines.capacity_bytes < BYTES);
    demand(&lines, "next", 2, true);
    line = next(&lines);
    assert_true(line.is_too_long && !line.is_whole && line.number == 3);
    demand_end(&lines);
    free(text);
}

/* A hole of any size costs no time and no memory. */
static void holes_are_passed_over(void **state)
{
    enum { LIMIT_BYTES = 1000 };
    const off_t hole_bytes = (off_t)1 << 42;
    static const char text[] = "one\n{", rest[] = "}\nthree\n{";
    pkb_lines lines = PKB_LINES_NONE;
    (void)state;
    open_text(&lines, text, strlen(text), LIMIT_BYTES);
    assert_int_equal(truncate(path, hole_bytes), 0);
    assert_int_equal(pkb_fs_append(path, rest, strlen(rest), NULL), PKB_OK);
    assert_int_equal(truncate(path, 2 * hole_bytes), 0);
    demand(&lines, "one", 1, true);
    pkb_line line = next(&lines);
    assert_true(line.is_too_long && line.is_whole && line.number == 2);
    assert_int_equal(line.offset, strlen("one\n"));
    line = next(&lines);
    assert_int_equal(line.offset, hole_bytes + (off_t)strlen("}\n"));
    assert_memory_equal(line.text, "three", line.bytes);
    line = next(&lines);
    assert_true(line.is_too_long && !line.is_whole && line.number == 4);
    assert_true(lines.capacity_bytes < 1 << 20);
    assert_int_equal(lines.at_offset, 2 * hole_bytes);
    demand_end(&lines);
}

static void what_is_no_file_is_refused(void **state)
{
    pkb_lines lines = PKB_LINES_NONE;
    pkb_error err = {0};
    (void)state;
    assert_int_equal(pkb_lines_open(&lines, folder, 10, &err), PKB_ERR_USAGE);
    assert_non_null(strstr(err.message, folder));
    assert_int_equal(pkb_lines_open(&lines, "/nothing/there", 10, &err), PKB_ERR_USAGE);
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(pkb_lines_open(&lines, path, 10, &err), PKB_ERR_USAGE);
    unlink(path);
}

static void send(int fd, const char *text)
{
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

/* What has come is taken without waiting for more. */
static void a_stream_gives_what_has_come(void **state)
{
    pkb_lines lines = PKB_LINES_NONE;
    pkb_line line;
    int ends[2];
    (void)state;

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(pkb_lines_open_stream(&lines, ends[0], "a pipe", 10, NULL), PKB_OK);
    assert_false(pkb_lines_take(&lines, &line));
    send(ends[1], "one\ntwo\nthr");
    assert_int_equal(pkb_lines_read(&lines, NULL), PKB_OK);
    demand(&lines, "one", 1, true);
    demand(&lines, "two", 2, true);
    assert_false(pkb_lines_take(&lines, &line));
    send(ends[1], "ee\n");
    assert_int_equal(pkb_lines_read(&lines, NULL), PKB_OK);
    demand(&lines, "three", 3, true);
    send(ends[1], "longer than ten");
    assert_int_equal(pkb_lines_read(&lines, NULL), PKB_OK);
    assert_false(pkb_lines_take(&lines, &line));
    send(ends[1], "\nlast");
    close(ends[1]);
    assert_int_equal(pkb_lines_read(&lines, NULL), PKB_OK);
    assert_true(pkb_lines_take(&lines, &line));
    assert_true(line.is_too_long);
    assert_int_equal(line.bytes, 0);
    assert_int_equal(line.offset, sizeof "one\ntwo\nthree\n" - 1);
    assert_false(pkb_lines_take(&lines, &line));
    assert_int_equal(pkb_lines_read(&lines, NULL), PKB_OK);
    demand(&lines, "last", 5, false);
    demand_end(&lines);
    close(ends[0]);
}

static int set_up(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/text", folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return pkb_fs_remove_tree(folder, NULL) == PKB_OK ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_come_in_order_and_the_last_may_lack_its_end),
        cmocka_unit_test(long_lines_are_whole),
        cmocka_unit_test(too_long_lines_are_passed_over),
        cmocka_unit_test(holes_are_passed_over),
        cmocka_unit_test(what_is_no_file_is_refused),
        cmocka_unit_test(a_stream_gives_what_has_come),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
