/* SPDX-License-Identifier: Apache-2.0
 *
 * pkbench-ptx2c IN.ptx -o OUT.c: translates device code for the CPU device.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "harness/cpu/translator/translator.h"

enum { PTX_LIMIT_BYTES = 256 * 1024 * 1024 };

static pkb_code translate(const char *from, const char *to, pkb_error *err)
{
    char *ptx = NULL;
    size_t bytes = 0;
    pkb_buf c;

    pkb_buf_init(&c);
    pkb_code rc = pkb_fs_read(from, PTX_LIMIT_BYTES, &ptx, &bytes, err);
    if (rc == PKB_OK)
        rc = pkb_ptx_translate(ptx, bytes, &c, err);
    if (rc == PKB_OK)
        rc = pkb_fs_write(to, pkb_buf_text(&c), c.bytes, err);
    free(ptx);
    pkb_buf_clear(&c);
    return rc;
}

int main(int argc, char **argv)
{
    pkb_error err = {0};

    if (argc != 4 || strcmp(argv[2], "-o") != 0) {
        fprintf(stderr, "usage: %s IN.ptx -o OUT.c\n", argc > 0 ? argv[0] : "pkbench-ptx2c");
        return pkb_code_exit_status(PKB_ERR_USAGE);
    }
    pkb_code rc = translate(argv[1], argv[3], &err);
    if (rc != PKB_OK)
        fprintf(stderr, "pkbench-ptx2c: %s: %s\n", argv[1], err.message);
    return pkb_code_exit_status(rc);
}
