// SPDX-License-Identifier: Apache-2.0
//
// The scores of one run: the first numbers as tiles, then all of them.
"use strict";

page.summary = (() => {
  const { runs, KS, PS } = page.given;
  const { caption, figure, find, h, legend, table, title } = page.pieces;
  const { pointOf } = page.forest;
  const { numberCell, numberHead, row, rowHead, valueCell } = page.pieces;
  const { axisPercent, count, hasInterval, interval, isThere, percent, plural, times } =
    page.numbers;

  // ---- tiles ----

  function tile(name, value, format, note) {
    const has = value && isThere(value.value);
    const part = (kind, ...words) => h("div", { class: kind }, ...words);
    return part(
      "tile",
      part("name", name),
      part("value", has ? format(value.value) : "–"),
      has && hasInterval(value) ? part("interval", interval(value, format), " 95 %") : null,
      part("note", note),
    );
  }

  function passTile(all) {
    const attempts = `${plural(all.correct, "attempt")} of ${count(all.judged)} right`;
    const solved = `${count(all.problems_solved)} of ${plural(all.problems, "problem")} solved`;
    const name = "pass@1: right at the first try";
    return tile(name, all.pass["1"], percent, `${attempts}; ${solved}`);
  }

  function speedTiles(all) {
    if (!all.fast) return [];
    const timed = `geometric mean of ${plural(all.speedup_of, "attempt")}`;
    const rest = all.unmeasured > 0 ? `; ${count(all.unmeasured)} were not timed` : "";
    const fast = all.fast["1"]["1"];
    return [
      tile("fast_1@1: right and faster", fast, percent, "than PyTorch + NCCL, run eagerly"),
      tile("Speed-up of right attempts", all.speedup, times, timed + rest),
    ];
  }

  function coverageTile(all) {
    const judged = `${count(all.judged)} of ${count(all.planned)} attempts judged`;
    const distinct = `${count(all.distinct)} distinct programs`;
    return tile("Coverage", { value: all.coverage }, percent, `${judged}; ${distinct}`);
  }

  // ---- all numbers ----

  // [label, values by k, format]
  function rowsOf(all) {
    const rows = [["pass", all.pass, percent]];
    if (all.fast) for (const p of PS) rows.push([`fast_${p}`, all.fast[p], percent]);
    if (all.best) rows.push(["best of k", all.best, times]);
    return rows;
  }

  function numbersTable(all) {
    const rows = rowsOf(all);
    const ks = KS.filter((k) => rows.some(([, values]) => values[k]));
    const heads = ["", ...ks.map((k) => numberHead(`@${k}`))];
    const cells = (values, format) => ks.map((k) => valueCell(values[k], format));
    return table(
      heads,
      rows.map(([label, values, format]) => row(rowHead(label), cells(values, format))),
    );
  }

  function explanation(all) {
    const fast =
      "fast_p@k: that they hold one that is right and more than p times as fast as the " +
      "reference. best of k: geometric mean of the best speed-up among k, the reference at worst. ";
    return caption(
      "pass@k: chance that k attempts at a problem hold a right one. ",
      all.fast ? fast : "",
      "Below each number its 95 % interval, where there are two problems or more; – where " +
        "problems have too few attempts.",
    );
  }

  // ---- all runs side by side ----

  function measures() {
    const list = [
      ...KS.map((k) => [`pass@${k}`, (all) => all.pass[k]]),
      ...PS.map((p) => [`fast_${p}@1`, (all) => all.fast && all.fast[p]["1"]]),
    ];
    const isKnown = (value) => value && isThere(value.value);
    return list.filter(([, get]) => runs.some((run) => isKnown(get(run.score.all))));
  }

  function runsChart() {
    const list = measures();
    const series = runs.map((run) => ({
      name: run.name,
      color: run.number,
      points: list.map(([label, get]) => pointOf(get(run.score.all), label, run.name)),
    }));
    const chart = page.forest.build({
      rows: list.map(([label]) => label),
      series,
      format: axisPercent,
      min: 0,
      isShare: true,
      name: "problems, expected share",
    });
    const words =
      "Dots are means over problems; bars are 95 % bootstrap intervals over problems: what to " +
      "expect at other problems of this kind.";
    const drawing = figure("pass@k and fast_p@1 with their intervals", chart, words);
    return runs.length > 1 ? [legend(series), drawing] : [drawing];
  }

  // ---- sizes ----

  function sizeRow([name, size]) {
    return row(
      rowHead(name),
      numberCell(count(size.judged)),
      numberCell(count(size.reached)),
      numberCell(count(size.correct)),
      valueCell(size.pass_1, percent),
      valueCell(size.speedup, times),
    );
  }

  function sizesPart(score) {
    const classes = Object.entries(score.sizes || {});
    if (classes.length === 0) return [];
    const heads = ["Judged", "Came to it", "Right", "pass@1", "Speed-up"].map(numberHead);
    return [h("h3", {}, "By class of sizes"), table(["Class", ...heads], classes.map(sizeRow))];
  }

  function show({ name, score }) {
    const { all } = score;
    const section = find("#summary");
    const tiles = [passTile(all), ...speedTiles(all), coverageTile(all)];
    page.charts.forget(section);
    section.querySelector(".tiles").replaceChildren(...tiles);
    section
      .querySelector(".body")
      .replaceChildren(
        h("h3", {}, "All numbers", runs.length > 1 ? [" of ", title(name)] : ""),
        numbersTable(all),
        explanation(all),
        ...runsChart(),
        ...sizesPart(score),
      );
  }

  return { show };
})();
