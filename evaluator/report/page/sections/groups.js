// SPDX-License-Identifier: Apache-2.0
//
// Scores of one run by category or by collective.
"use strict";

page.groups = (() => {
  const { choice, empty, figure, fill, legend } = page.pieces;
  const { pointOf } = page.forest;
  const { axisPercent } = page.numbers;

  const GROUPINGS = [
    ["categories", "category"],
    ["collectives", "collective"],
  ];

  let grouping = "categories";

  function seriesOf(list, score) {
    const series = (name, color, get) => {
      const point = ([group, values]) => pointOf(get(values), `${group}, ${name}`);
      return { name, color, points: list.map(point) };
    };
    const pass = series("pass@1", 0, (values) => values.pass["1"]);
    if (!score.all.fast) return [pass];
    return [pass, series("fast_1@1", 2, (values) => values.fast["1"]["1"])];
  }

  function chartOf(list, series) {
    const chart = page.forest.build({
      rows: list.map(([group, values]) => `${group} (${values.problems})`),
      series,
      format: axisPercent,
      min: 0,
      max: 1,
      hasBars: true,
    });
    const twice =
      grouping === "collectives" ? " A problem with two collectives counts in both." : "";
    const words =
      "In brackets the number of problems. Error bars are 95 % intervals over problems; one " +
      `problem has none.${twice}`;
    return figure(`pass@1 by ${grouping}`, chart, words);
  }

  function show(run) {
    const list = Object.entries(run.score[grouping] || {});
    const series = seriesOf(list, run.score);
    const act = (value) => {
      grouping = value;
      show(run);
    };
    fill(
      "groups",
      choice("grouping", "Grouped by", GROUPINGS, grouping, act),
      list.length === 0
        ? empty("No problem of this run names one.")
        : [legend(series), chartOf(list, series)],
    );
  }

  return { show };
})();
