/* SPDX-License-Identifier: Apache-2.0
 *
 * The command `pkbench`: picks the verb, runs it, puts its error into words.
 */
#include <argp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evaluator/console/terminal.h"
#include "evaluator/verbs/verb.h"
#include "evaluator/version.h"

/* Seen by argp only if it is exported from the program. */
__attribute__((visibility("default"))) const char *argp_program_version = "pkbench " PKB_VERSION;

static void print_help(FILE *out)
{
    size_t count;
    const pkb_verb *verbs = pkb_verb_table(&count);

    fputs("Usage: pkbench VERB [OPTION...] [ARGUMENT...]\n"
          "Can a CUDA kernel replace PyTorch + NCCL code on several GPUs: is it right, and how\n"
          "much faster is it?\n\n",
          out);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "  %-10s %s\n", verbs[i].name, verbs[i].summary);
    fputs("\n  pkbench VERB --help explains a verb, pkbench --version prints the version.\n\n"
          "Exit status: 0 done, 1 attempt not correct, 2 usage, 3 infrastructure (try pkbench\n"
          "doctor), 5 results could not be stored, 6 incomplete (repeat to go on), 130 "
          "interrupted.\n",
          out);
}

static bool is_one_of(const char *word, const char *const *words)
{
    while (*words != NULL && strcmp(word, *words) != 0)
        words++;
    return *words != NULL;
}

int main(int argc, char **argv)
{
    static const char *const help[] = {"help", "--help", "-h", "-?", NULL};
    static const char *const version[] = {"--version", "-V", NULL};
    char help_option[] = "--help";
    pkb_error err = {0};
    const pkb_verb *verb = NULL;
    int status = 0;

    argp_err_exit_status = pkb_code_exit_status(PKB_ERR_USAGE);
    if (argc == 3 && strcmp(argv[1], "help") == 0) { /* as "VERB --help" */
        argv[1] = argv[2];
        argv[2] = help_option;
    }
    if (argc < 2 || is_one_of(argv[1], help)) {
        print_help(argc < 2 ? stderr : stdout);
        return argc < 2 ? pkb_code_exit_status(PKB_ERR_USAGE) : 0;
    }
    if (is_one_of(argv[1], version))
        return puts(argp_program_version) == EOF;

    pkb_code rc = pkb_verb_find(argv[1], &verb, &err);
    if (rc == PKB_OK)
        rc = verb->run(argc - 1, argv + 1, &status, &err);
    if (rc != PKB_OK) {
        pkb_terminal_error(rc, &err);
        status = pkb_code_exit_status(rc);
    }
    return status;
}
