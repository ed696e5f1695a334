/* SPDX-License-Identifier: Apache-2.0
 *
 * pkbench-ptx2c IN.ptx -o OUT.c: translates device code for the CPU device.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "harness/cpu/translator/translator.h"

static pkb_code read_file(const char *path, pkb_buf *out, pkb_error *err)
{
    char block[65536];
    size_t length;
    FILE *file = fopen(path, "rbe");

    if (file == NULL)
        return pkb_error_set_errno(err, PKB_ERR_IO, "cannot open %s", path);
    while ((length = fread(block, 1, sizeof block, file)) > 0)
        pkb_buf_append(out, block, length);
    bool is_bad = ferror(file) != 0;
    fclose(file);
    if (is_bad)
        return pkb_error_set(err, PKB_ERR_IO, 0, "cannot read %s", path);
    return pkb_buf_check(out, path, err);
}

static pkb_code write_file(const char *path, const pkb_buf *text, pkb_error *err)
{
    FILE *file = fopen(path, "wbe");
    if (file == NULL)
        return pkb_error_set_errno(err, PKB_ERR_IO, "cannot create %s", path);
    bool is_bad = fwrite(pkb_buf_text(text), 1, text->bytes, file) != text->bytes;
    is_bad = fclose(file) != 0 || is_bad;
    if (is_bad)
        return pkb_error_set_errno(err, PKB_ERR_DISK, "cannot write %s", path);
    return PKB_OK;
}

int main(int argc, char **argv)
{
    pkb_buf ptx, c;
    pkb_error err = {0};

    if (argc != 4 || strcmp(argv[2], "-o") != 0) {
        fprintf(stderr, "usage: %s IN.ptx -o OUT.c\n", argc > 0 ? argv[0] : "pkbench-ptx2c");
        return pkb_code_exit_status(PKB_ERR_USAGE);
    }
    pkb_buf_init(&ptx);
    pkb_buf_init(&c);
    pkb_code rc = read_file(argv[1], &ptx, &err);
    if (rc == PKB_OK)
        rc = pkb_ptx_translate(pkb_buf_text(&ptx), ptx.bytes, &c, &err);
    if (rc == PKB_OK)
        rc = write_file(argv[3], &c, &err);
    if (rc != PKB_OK)
        fprintf(stderr, "pkbench-ptx2c: %s: %s\n", argv[1], err.message);
    pkb_buf_clear(&ptx);
    pkb_buf_clear(&c);
    return pkb_code_exit_status(rc);
}
