// SPDX-License-Identifier: Apache-2.0
//
// The data of a report. Every score in it was computed by pkbench; here it is only laid out.
"use strict";

const page = {}; // what each script gives to those after it

page.given = (() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const runs = data.runs.map((run, number) => ({ ...run, number, name: run.score.run }));
  const KS = [1, 3, 5, 10];
  const PS = ["1", "1.25", "1.5", "2", "4"];
  const shown = { run: 0 }; // the number of the run that the sections about one run show

  // ---- attempts: the rows that attempts.c writes, unpacked ----

  const pick = (list, number) => (number > 0 ? list[number - 1] : "");

  function unpackRow(run, row) {
    const [problem, sample, verdict, reason, speedup, low, high, sizes, code, ...files] = row;
    const { reasons, paths, sources } = run.attempts;
    const [folder, name, ...logs] = files;
    const file = name > 0 ? pick(paths, name) : `${sample}.cu`;
    return {
      problem: run.score.problems[problem].problem,
      sample,
      verdict: data.verdicts[verdict],
      reason: pick(reasons, reason),
      speedup,
      low,
      high,
      sizes: sizes.map((size) => unpackSize(run, size)),
      code: pick(sources, code),
      source: folder > 0 ? pick(paths, folder) + file : "",
      logs: logs.map((log) => pick(paths, log)),
    };
  }

  function unpackSize(run, [size, verdict, speedup, low, high, ownUs, eagerUs, isUnstable, share]) {
    return {
      name: run.attempts.sizes[size],
      verdict: data.verdicts[verdict],
      speedup,
      low,
      high,
      ownUs,
      eagerUs,
      isUnstable: Boolean(isUnstable),
      share, // of the floor
    };
  }

  function attemptsOf(run) {
    if (!run.unpacked) run.unpacked = run.attempts.rows.map((row) => unpackRow(run, row));
    return run.unpacked;
  }

  // The run of hand-written solutions, unless it is `run` itself.
  function upperBoundFor(run) {
    const bound = runs[data.upper_bound];
    return bound === run ? undefined : bound;
  }

  return { data, runs, KS, PS, shown, attemptsOf, upperBoundFor };
})();
