// SPDX-License-Identifier: Apache-2.0
//
// The data of a report. Every score in it was computed by pkbench; here it is only laid out.
"use strict";

const given = (() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const runs = data.runs.map((run, number) => ({ ...run, number, name: run.score.run }));
  const KS = [1, 3, 5, 10];
  const PS = ["1", "1.25", "1.5", "2", "4"];
  const shown = { run: 0 }; // the number of the one below

  // ---- attempts: the rows that attempts.c writes, unpacked ----

  function unpack(run) {
    const { rows, reasons, paths, sources } = run.attempts;
    const problems = run.score.problems;
    const pick = (list, number) => number > 0 ? list[number - 1] : "";
    return rows.map(([problem, sample, verdict, reason, speedup, low, high, sizes, code, folder, name, ...logs]) => ({
      problem: problems[problem].problem, sample, verdict: data.verdicts[verdict],
      reason: pick(reasons, reason), speedup, low, high, sizes, code: pick(sources, code),
      source: folder > 0 ? pick(paths, folder) + (name > 0 ? pick(paths, name) : `${sample}.cu`) : "",
      logs: logs.map((log) => pick(paths, log)),
    }));
  }

  const attemptsOf = (run) => run.unpacked || (run.unpacked = unpack(run));

  return { data, runs, KS, PS, shown, attemptsOf };
})();
