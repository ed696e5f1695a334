// SPDX-License-Identifier: Apache-2.0
//
// What became of the attempts of one run, stage by stage, and what was lost at each.
"use strict";

page.funnel = (() => {
  const { cell, figure, fill, h, numberCell, numberHead, row, table } = page.pieces;
  const { count, plural } = page.numbers;

  const STAGES = {
    asked: { name: "asked" },
    extracted: { name: "holds code", lost: "held no code" },
    compiled: { name: "compiles", lost: "did not compile" },
    correct: { name: "is right", lost: "were not right" },
    fast: { name: "is faster", lost: "were not faster" },
  };

  function stageOf({ stage, count: left }, first) {
    const { name } = STAGES[stage];
    const share = first > 0 ? Math.round((100 * left) / first) : 0;
    const label = `${count(left)}  (${share} %)`;
    return { name, count: left, label, lines: [name, plural(left, "attempt")] };
  }

  function lostRows({ stage, lost }) {
    const list = Object.entries(lost).toSorted((a, b) => b[1] - a[1]);
    const verdict = (name) => cell(h("span", { class: "verdict" }, name));
    return list.map(([name, left]) =>
      row(cell(STAGES[stage].lost), verdict(name), numberCell(count(left))),
    );
  }

  function lostTable(stages) {
    const rows = stages.flatMap(lostRows);
    return rows.length > 0
      ? table(["Lost there", "Verdict", numberHead("Attempts")], rows)
      : h("p", { class: "quiet" }, "Nothing was lost on the way.");
  }

  function show(run) {
    const first = run.funnel[0].count;
    const stages = run.funnel.map((stage) => stageOf(stage, first));
    const label = "Attempts that came to each stage";
    const chart = page.bars.build({ stages, color: run.number });
    const drawing = figure(label, chart, `${label}, and their share of those asked.`);
    fill("funnel", h("div", { class: "columns" }, drawing, lostTable(run.funnel)));
  }

  return { show };
})();
