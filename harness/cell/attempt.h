/* SPDX-License-Identifier: Apache-2.0
 *
 * The attempt in its cell: loading it and carrying out the judge's requests. An attempt shares this
 * process and may change anything in it, so nothing here is believed by a judge.
 */
#ifndef PKB_HARNESS_CELL_ATTEMPT_H
#define PKB_HARNESS_CELL_ATTEMPT_H

#include "harness/cell/session.h"

typedef struct pkb_attempt {
    const char *host_path, *device_path;
    void *library;             /* NULL = not loaded */
    pkb_setup_function *setup; /* NULL where the attempt has none */
    pkb_run_function *run;     /* NULL until loaded */
    pkb_teardown_function *teardown;
    void *state;
} pkb_attempt;

/* Carries out the request in the page and fills the answer in; does not say done. */
void pkb_attempt_obey(pkb_attempt *attempt, pkb_session *session);

#endif
