// SPDX-License-Identifier: Apache-2.0
//
// Two runs compared, problem by problem.
"use strict";

page.compare = (() => {
  const { data, runs, KS, PS } = page.given;
  const { caption, controls, empty, figure, fill, h, mark, menu, text, title } = page.pieces;
  const { numberCell, numberHead, row, rowHead, table } = page.pieces;
  const { count, interval, percent, plural, points, times } = page.numbers;

  const NUMBERS = ["A", "B", "B less A, or B / A", "95 %", "p", "Problems"];
  const FLIPS = [
    ["solved_only_by_a", "Solved only by A"],
    ["solved_only_by_b", "Solved only by B"],
    ["faster_only_by_a", "Faster than the reference only by A"],
    ["faster_only_by_b", "Faster than the reference only by B"],
  ];

  // ---- numbers ----

  // {label, numbers, isRatio}: a difference of shares, or a ratio of speed-ups.
  function rowsOf(result) {
    const rows = [];
    const add = (label, values, isRatio) => {
      if (values) rows.push({ label, values, isRatio });
    };
    for (const k of KS) add(`pass@${k}`, result.pass[k], false);
    for (const p of PS) for (const k of KS) add(`fast_${p}@${k}`, result.fast[p][k], false);
    for (const k of KS) add(`best of ${k}`, result.best[k], true);
    add("speed-up of correct", result.speedup, true);
    return rows;
  }

  function tableRow({ label, values, isRatio }) {
    const change = isRatio ? values.ratio : values.difference;
    const format = isRatio ? times : points;
    const level = isRatio ? times : percent;
    const cells = [
      level(values.a),
      level(values.b),
      format(change.value),
      interval(change, format),
      values.p.toFixed(4),
      count(values.problems),
    ];
    return row(
      rowHead(label),
      cells.map((words) => numberCell(words)),
    );
  }

  const tableOf = (rows) => table(["", ...NUMBERS.map(numberHead)], rows.map(tableRow));

  // What people decide by; the rest on demand.
  const isFirst = ({ label }) => /^pass|@1$|^speed-up/.test(label);

  function numbersPart(rows) {
    const rest = rows.filter((one) => !isFirst(one));
    const more = h("summary", {}, `${rest.length} more numbers`);
    return [
      tableOf(rows.filter(isFirst)),
      rest.length > 0 ? h("details", {}, more, tableOf(rest)) : null,
      caption(
        "Differences in percentage points, ratios of speed-ups. p: two-sided permutation test " +
          "over problems. Choose the number that decides before you look: of 20 numbers without " +
          "a difference one has p < 0.05.",
      ),
    ];
  }

  // ---- chart ----

  function pointOf({ label, values }) {
    const { difference, p } = values;
    const lines = [label, `${points(difference.value)} points`, `p = ${p.toFixed(4)}`];
    return { ...difference, lines };
  }

  const axisPoints = (value) => points(value).replace(/\.0$|^±0\.0/, "") || "0";

  function chartOf(rows, color) {
    const list = rows.filter((one) => !one.isRatio && one.label.endsWith("@1"));
    if (list.length === 0) return null;
    const chart = page.forest.build({
      rows: list.map((one) => one.label),
      format: axisPoints,
      zero: 0,
      name: "B less A, percentage points",
      series: [{ name: "difference", color, points: list.map(pointOf) }],
    });
    const words =
      "Paired over problems; bars are 95 % bootstrap intervals. Right of the line B is better.";
    return figure("differences with their intervals", chart, words);
  }

  // ---- one pair ----

  function marksOf(result) {
    const list = [];
    if (result.different)
      list.push(mark("MIXED", `${result.different.join(", ")} differ between the runs`));
    if (!result.complete) {
      const paired = `paired over ${plural(result.paired, "problem")}`;
      const alone = `${result.only_a} only in A, ${result.only_b} only in B`;
      list.push(mark("INCOMPLETE", `${paired}; ${alone}`));
    }
    return list;
  }

  function flipsOf(result) {
    return FLIPS.filter(([key]) => result[key].length > 0).map(([key, words]) => {
      const names = result[key];
      return h("p", {}, h("b", {}, `${words} (${names.length}): `), text(names.join(", ")));
    });
  }

  function partsOf(pair) {
    if (pair.refused) return [empty("These runs are not compared: ", text(pair.refused))];
    const result = pair.compare;
    const rows = rowsOf(result);
    const chart = chartOf(rows, pair.b);
    return [...marksOf(result), chart, ...numbersPart(rows), ...flipsOf(result)].filter(Boolean);
  }

  // ---- the section ----

  const pairName = ({ a, b }) => `A: ${runs[a].name} – B: ${runs[b].name}`;

  function show() {
    if (runs.length < 2) return;
    const body = h("div", {});
    const draw = (number) => {
      page.charts.forget(body);
      body.replaceChildren(...partsOf(data.pairs[number]));
    };
    if (data.pairs.length === 1) {
      const names = ["A is ", title(runs[0].name), ", B is ", title(runs[1].name), "."];
      fill("compare", h("p", {}, ...names), body);
    } else {
      const options = data.pairs.map((pair, number) => [number, pairName(pair)]);
      fill("compare", controls(menu("Runs", options, 0, draw)), body);
    }
    draw(0);
  }

  return { show };
})();
