/* SPDX-License-Identifier: Apache-2.0
 *
 * Command lines, checked before argp sees them; see arguments.h.
 */
#include "evaluator/console/arguments.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "evaluator/console/suggest.h"
#include "evaluator/console/terminal.h"

enum { MOST_OPTIONS = 64 };

/* Those that argp adds itself. */
static const struct argp_option common[] = {
    {"help", '?', 0, 0, "", 0}, {"usage", 0x1000, 0, 0, "", 0}, {"version", 'V', 0, 0, "", 0}, {0}};

static bool is_end(const struct argp_option *option)
{
    return option->name == NULL && option->key == 0 && option->doc == NULL && option->group == 0;
}

/* The long option that `word` ("--rank", "--seed=1") begins; NULL = none. */
static const struct argp_option *find_long(const struct argp_option *options, const char *word)
{
    const char *name = word + 2;
    const size_t bytes = strcspn(name, "=");

    for (const struct argp_option *option = options; !is_end(option); option++)
        if (option->name != NULL && strncmp(option->name, name, bytes) == 0)
            return option;
    return NULL;
}

static const struct argp_option *find_letter(const struct argp_option *options, char letter)
{
    for (const struct argp_option *option = options; !is_end(option); option++)
        if (option->key == letter)
            return option;
    return NULL;
}

typedef struct option_names {
    char text[MOST_OPTIONS][32]; /* "--ranks" */
    const char *names[MOST_OPTIONS];
    size_t count;
} option_names;

static void add_names(option_names *to, const struct argp_option *options)
{
    for (const struct argp_option *option = options; !is_end(option); option++) {
        if (option->name == NULL || to->count == MOST_OPTIONS)
            continue;
        snprintf(to->text[to->count], sizeof to->text[0], "--%s", option->name);
        to->names[to->count] = to->text[to->count];
        to->count++;
    }
}

static _Noreturn void end(const pkb_error *err)
{
    pkb_terminal_error(PKB_ERR_USAGE, err);
    exit(pkb_code_exit_status(PKB_ERR_USAGE));
}

static _Noreturn void refuse_option(const struct argp *argp, const char *verb, const char *word)
{
    option_names known = {.count = 0};
    pkb_buf asked = {0}, near = {0};
    pkb_error err = {0};

    add_names(&known, argp->options);
    add_names(&known, common);
    pkb_buf_append(&asked, word, strcspn(word, "="));
    pkb_suggest(&near, pkb_buf_text(&asked), known.names, known.count);
    pkb_error_set(&err, PKB_ERR_USAGE, 0, "%s has no option '%s' (see pkbench %s --help)%s", verb,
                  pkb_buf_text(&asked), verb, pkb_buf_text(&near));
    pkb_buf_clear(&asked);
    pkb_buf_clear(&near);
    end(&err);
}

static const struct argp_option *known_letter(const struct argp *argp, char letter)
{
    const struct argp_option *option = find_letter(argp->options, letter);
    return option != NULL ? option : find_letter(common, letter);
}

/* The option of `word` whose value is not in it but in the next word; NULL = there is none. */
static const struct argp_option *check_option(const struct argp *argp, const char *verb,
                                              const char *word)
{
    if (word[1] == '-') {
        const struct argp_option *option = find_long(argp->options, word);
        if (option == NULL && find_long(common, word) == NULL)
            refuse_option(argp, verb, word);
        const bool wants_value = option != NULL && option->arg != NULL;
        return wants_value && strchr(word, '=') == NULL ? option : NULL;
    }
    for (const char *letter = word + 1; *letter != '\0'; letter++) {
        const struct argp_option *option = known_letter(argp, *letter);
        if (option == NULL)
            refuse_option(argp, verb, word);
        if (option->arg != NULL) /* what follows the letter is its value */
            return letter[1] == '\0' ? option : NULL;
    }
    return NULL;
}

/* getopt only says that it does not know an option or misses its value; this says what there is
 * and ends the program, as argp does for bad options. */
static void check_options(const struct argp *argp, int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (argv[i][0] != '-' || argv[i][1] == '\0')
            continue;
        const struct argp_option *asks = check_option(argp, argv[0], argv[i]);
        pkb_error err = {0};
        if (asks != NULL && ++i == argc) {
            pkb_error_set(&err, PKB_ERR_USAGE, 0, "%s wants a value: %s %s (see pkbench %s --help)",
                          argv[i - 1], argv[i - 1], asks->arg, argv[0]);
            end(&err);
        }
    }
}

void pkb_arguments_parse(const struct argp *argp, int argc, char **argv, void *input)
{
    char name[64];
    char *verb = argv[0];

    check_options(argp, argc, argv);
    snprintf(name, sizeof name, "pkbench %s", verb);
    argv[0] = name;
    argp_parse(argp, argc, argv, 0, NULL, input);
    argv[0] = verb;
}
