/* SPDX-License-Identifier: Apache-2.0
 *
 * The attempts that a score is made of: what the records of a run, or of several runs together, say
 * of each one, which attempts were planned, and what stands in the way of an honest number.
 */
#ifndef PKB_EVALUATOR_RUNSET_H
#define PKB_EVALUATOR_RUNSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "evaluator/attempt/samples.h"
#include "evaluator/problem/catalogue.h"
#include "evaluator/record/outcome.h"

typedef struct pkb_runset_options {
    const char *run, *device, *world; /* take only these; NULL = all */
    const char *problems;             /* a selection: these are meant; NULL = not said */
    size_t samples;                   /* attempts meant at each problem; 0 = not said */
    bool pools;                       /* attempts of several runs count as one run's */
    bool mixes;                       /* mixed conditions are marked, not refused */
} pkb_runset_options;

typedef struct pkb_runset_file {
    char *path;
    size_t folder; /* whose results it is part of; PKB_RUNSET_NO_FOLDER = named by itself */
    dev_t device;
    ino_t inode;
} pkb_runset_file;

#define PKB_RUNSET_NO_FOLDER ((size_t)-1)

typedef struct pkb_runset_folder {
    char *path;
    pkb_samples sources;
} pkb_runset_folder;

typedef struct pkb_runset_problem {
    const char *name;
    size_t planned;      /* attempts */
    size_t first, count; /* those with a record: outcomes[first .. first + count) */
} pkb_runset_problem;

typedef struct pkb_runset_kind {
    const char *run, *device, *world;
    size_t count;
} pkb_runset_kind;

typedef struct pkb_runset {
    char *name; /* of the run, or of the runs that are joined, for people */
    pkb_names names;
    pkb_runset_file *files;
    size_t file_count;
    pkb_runset_folder *folders;
    size_t folder_count;
    pkb_outcome *outcomes; /* one an attempt; by problem, then sample */
    size_t count, capacity;
    pkb_runset_problem *problems; /* by name; planned ones without a record too */
    size_t problem_count;
    bool has_plan; /* somebody said how many attempts are meant: else the largest number counts */
    bool is_mixed[PKB_CONDITION_COUNT]; /* told apart by nobody: options.mixes */
    bool has_mixed_sizes;               /* of one problem */
    bool has_mixed_definitions;         /* of one problem */
    size_t broken_count;                /* lines that are no record: nobody knows whose they were */
    size_t debug_count;                 /* records of --debug, left out */
    size_t other_count;                 /* records that the options did not ask for */
    pkb_runset_kind *kinds;             /* of those, by run, device and world */
    size_t kind_count;
    char **notes; /* sentences for people */
    size_t note_count;
} pkb_runset;

/* Reads the runs: folders (their results/ *.jsonl) or files of records. PKB_ERR_USAGE: nothing to
 * read, records that contradict each other or should not be mixed, an unknown schema. The catalogue
 * must outlive the runset, which the caller clears in any case. */
pkb_code pkb_runset_read(pkb_runset *out, const char *const *paths, size_t path_count,
                         const pkb_runset_options *options, const pkb_catalogue *catalogue,
                         pkb_error *err);
void pkb_runset_clear(pkb_runset *runset);

/* The file in the run's folder that an outcome is of, whether or not it is still what was judged;
 * NULL: none is known. */
const char *pkb_runset_source(const pkb_runset *runset, const pkb_outcome *outcome);

/* Is the path one of the runs' files: records, sources and what lies beside them, run.json? Then
 * nothing may be written there. */
bool pkb_runset_has_file(const pkb_runset *runset, const char *path);

/* Anything at all: another run, device, ..., sizes or definition of a problem. */
bool pkb_runset_is_mixed(const pkb_runset *runset);

/* The first value of a condition; NULL: no record says one. */
const char *pkb_runset_condition(const pkb_runset *runset, pkb_condition condition);

/* Its different values: at most `most` of them go to `values` ("none" for records without it, where
 * that is a value), and to `first` the first outcome of each, unless that is NULL. */
size_t pkb_runset_values(const pkb_runset *runset, pkb_condition condition, const char **values,
                         const pkb_outcome **first, size_t most);

#endif
