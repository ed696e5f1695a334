// SPDX-License-Identifier: Apache-2.0
//
// The section that lists all runs, where there are several.
"use strict";

page.overview = (() => {
  const { data, runs, shown } = page.given;
  const { cell, nameCell, numberCell, numberHead, table, valueCell } = page.pieces;
  const { fill, h, swatch, title } = page.pieces;
  const { count, percent, times } = page.numbers;

  const NUMBERS = ["Judged / planned", "pass@1", "fast_1@1", "Speed-up of correct"];

  function nameOf(run) {
    const isBound = run.number === data.upper_bound;
    const note = isBound ? h("small", {}, "hand-written upper bound") : null;
    return nameCell(swatch(run.number), " ", title(run.name), note);
  }

  function rowOf(run) {
    const { all } = run.score;
    const names = page.marks.of(run.score).map(([name]) => name);
    return h(
      "tr",
      { class: run.number === shown.run ? "is-shown" : undefined },
      nameOf(run),
      numberCell(`${count(all.judged)} / ${count(all.planned)}`),
      valueCell(all.pass["1"], percent),
      valueCell(all.fast && all.fast["1"]["1"], percent),
      valueCell(all.speedup, times),
      cell(names.map((name) => h("div", { class: "verdict open-case" }, name))),
    );
  }

  function show() {
    if (runs.length < 2) return;
    fill("runs", table(["Run", ...NUMBERS.map(numberHead), ""], runs.map(rowOf)));
  }

  return { show };
})();
