/* SPDX-License-Identifier: Apache-2.0
 *
 * The numbers of a run; docs/scores.md defines every one. What is undefined or was not measured is
 * NaN here and absent where it is printed.
 */
#ifndef PKB_EVALUATOR_SCORE_H
#define PKB_EVALUATOR_SCORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/stats.h"
#include "base/verdict.h"
#include "evaluator/problem/catalogue.h"
#include "evaluator/record/outcome.h"
#include "evaluator/score/runset.h"

enum { PKB_SCORE_KS = 4, PKB_SCORE_PS = 5, PKB_SCORE_LABELS = 12 };

/* The numbers of a problem, in one order everywhere. */
enum {
    PKB_SCORE_PASS_COLUMN = 0,
    PKB_SCORE_BEST_COLUMN = PKB_SCORE_PASS_COLUMN + PKB_SCORE_KS,
    PKB_SCORE_FAST_COLUMN = PKB_SCORE_BEST_COLUMN + PKB_SCORE_KS, /* + p * PKB_SCORE_KS + k */
    PKB_SCORE_SPEEDUP_COLUMN = PKB_SCORE_FAST_COLUMN + PKB_SCORE_PS * PKB_SCORE_KS,
    PKB_SCORE_COLUMNS
};

extern const size_t pkb_score_ks[PKB_SCORE_KS]; /* 1, 3, 5, 10 */
extern const double pkb_score_ps[PKB_SCORE_PS]; /* 1, 1.25, 1.5, 2, 4 */

/* How many attempts are faster than a p: by the lower end of an attempt's own interval, by its
 * value, by the upper end. */
typedef struct pkb_score_faster {
    size_t low, point, high;
} pkb_score_faster;

typedef struct pkb_score_problem {
    const char *name;
    const char *category; /* owned by the score; "unknown" where the problem is */
    const char *collectives[PKB_SCORE_LABELS];
    size_t collective_count;
    size_t planned;
    size_t judged;      /* n: attempts with a verdict that counts */
    size_t correct;     /* c */
    size_t pending;     /* INFRA_ERROR */
    size_t unsupported; /* this device cannot run them */
    size_t missing;     /* planned, without a record */
    size_t distinct;    /* programs among the judged, pending and unsupported ones */
    size_t unmeasured;  /* correct, on a device whose times are a score, without a speed-up */
    size_t timed;       /* correct, with a speed-up */
    double log_speedup; /* sum over those timed */
    double *logs;       /* of each one */
    pkb_score_faster faster[PKB_SCORE_PS];
    pkb_outcome_sizes sizes[PKB_SIZE_CLASSES]; /* sums over judged attempts */
    bool asks[PKB_SIZE_CLASSES];               /* sizes of this class were asked for */
    size_t reached[PKB_SIZE_CLASSES];          /* judged attempts that came to such a size */
    size_t right[PKB_SIZE_CLASSES];            /* those right at all of them */
    size_t verdicts[PKB_VERDICT_COUNT];
} pkb_score_problem;

/* A mean over problems. */
typedef struct pkb_score_value {
    pkb_interval mean; /* 95 % bootstrap interval over problems, where there are two or more */
    size_t problems;   /* over which: those where it is defined */
    double if_fail, if_pass; /* with all planned attempts, those without a verdict as failed, or as
                                passed */
    double by_low, by_high;  /* fast_p: by the ends of the attempts' own intervals */
} pkb_score_value;

typedef struct pkb_score_group {
    const char *name;
    size_t problems, seen; /* planned; with at least one judged attempt */
    size_t planned, judged, correct, pending, unsupported, missing, distinct, unmeasured, timed;
    size_t solved; /* problems with a correct attempt */
    pkb_score_value pass[PKB_SCORE_KS];
    pkb_score_value fast[PKB_SCORE_PS][PKB_SCORE_KS];
    pkb_score_value
        best[PKB_SCORE_KS];          /* geometric mean of the best of k, the reference at worst */
    pkb_interval speedup;            /* geometric mean over `timed` correct attempts */
    size_t straddling[PKB_SCORE_PS]; /* correct attempts whose own interval holds p */
} pkb_score_group;

typedef struct pkb_score_size {
    size_t problems;                      /* with judged attempts that were asked for it */
    size_t judged, reached, right, timed; /* attempts; sizes timed */
    pkb_interval pass;                    /* pass@1 at this class alone */
    pkb_interval speedup;                 /* geometric mean over `timed` */
} pkb_score_size;

typedef struct pkb_score {
    const pkb_runset *runset;
    pkb_names names;
    pkb_score_problem *problems;
    size_t problem_count;
    double *logs;     /* of all problems */
    bool has_speed;   /* fast_p and speed-ups mean something: timed, and not on the CPU */
    bool is_screened; /* made on the CPU device */
    bool is_complete; /* every planned attempt has a verdict, and no line is broken */
    bool
        has_sources; /* programs were compared without comments and white space, not byte by byte */
    uint64_t seed;
    pkb_score_group all;
    pkb_score_group *categories, *collectives;
    size_t category_count, collective_count;
    pkb_score_size sizes[PKB_SIZE_CLASSES];
    size_t verdicts[PKB_VERDICT_COUNT];
} pkb_score;

enum { PKB_SCORE_ROUNDS = 10000, PKB_SCORE_SEED = 1 };

/* The runset and the catalogue must outlive the score, which the caller clears in any case. */
pkb_code pkb_score_make(pkb_score *out, const pkb_runset *runset, const pkb_catalogue *catalogue,
                        uint64_t seed, pkb_error *err);
void pkb_score_clear(pkb_score *score);

/* Coverage: judged of planned. */
double pkb_score_coverage(const pkb_score_group *group);

/* ---- the steps ---- */

/* score_count.c: counts attempts into problems. */
pkb_code pkb_score_count(pkb_score *score, const pkb_catalogue *catalogue, pkb_error *err);
/* score_distinct.c: counts programs. */
pkb_code pkb_score_count_programs(pkb_score *score, pkb_error *err);
/* score_group.c: means over the problems that `members` lists. */
/* pass@k, best of k and the mean speed-up (both as logarithms) and fast_p@k of a problem. */
void pkb_score_columns(double out[PKB_SCORE_COLUMNS], const pkb_score *score,
                       const pkb_score_problem *problem);

typedef struct pkb_score_members {
    const size_t *items; /* indexes of problems */
    size_t count;
} pkb_score_members;

pkb_code pkb_score_group_fill(pkb_score_group *group, const pkb_score *score,
                              pkb_score_members members, pkb_error *err);
pkb_code pkb_score_size_fill(pkb_score_size *size, const pkb_score *score,
                             pkb_size_class size_class, pkb_error *err);

#endif
