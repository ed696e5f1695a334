// SPDX-License-Identifier: Apache-2.0
//
// Sections about scores: of all runs, of one, of two compared, by threshold, by kind, by stage.
"use strict";

const scores = (() => {
  const { data, runs, KS, PS, shown, attemptsOf } = given;
  const { find, h, fill, figure, text, empty, table, numberHead, numberCell, swatch, legend } = pieces;
  const { choice, isThere, count, plural, percent, axisPercent, times, points, hasInterval, interval, duration, valueCell } = pieces;

  // ---- what a score must not be read without ----

  function marksOf(score) {
    const all = score.all;
    const marks = [];
    if (!score.complete)
      marks.push(["INCOMPLETE", `${count(all.judged)} of ${count(all.planned)} attempts judged, ${count(all.pending)} pending, `
        + `${count(all.unsupported)} unsupported, ${count(all.missing)} missing`
        + (score.broken_lines > 0 ? `, ${plural(score.broken_lines, "line")} no record` : "")]);
    if (score.mixed) marks.push(["MIXED", `${score.mixed.join(", ")} differ within this run`]);
    if (score.screened_on_cpu) marks.push(["Screened on cpu", "right or wrong only: times on the CPU device are no score"]);
    return marks;
  }

  // ---- all runs ----

  function showRuns() {
    if (runs.length < 2) return;
    const row = (run) => h("tr", { class: run.number === shown.run ? "is-shown" : undefined },
      h("td", { class: "name" }, swatch(run.number), " ", text(run.name),
        run.number === data.upper_bound ? h("small", {}, "hand-written upper bound") : null),
      numberCell(`${count(run.score.all.judged)} / ${count(run.score.all.planned)}`),
      valueCell(run.score.all.pass["1"], percent),
      valueCell(run.score.all.fast && run.score.all.fast["1"]["1"], percent),
      valueCell(run.score.all.speedup, times),
      h("td", {}, marksOf(run.score).map(([mark]) => h("div", { class: "verdict open-case" }, mark))));
    fill("runs", table(["Run", numberHead("Judged / planned"), numberHead("pass@1"), numberHead("fast_1@1"),
      numberHead("Speed-up of correct"), ""], runs.map(row)));
  }

  // ---- summary ----

  function tile(name, value, format, note) {
    const has = value && isThere(value.value);
    return h("div", { class: "tile" }, h("div", { class: "name" }, name),
      h("div", { class: "value" }, has ? format(value.value) : "–"),
      has && hasInterval(value) ? h("div", { class: "interval" }, interval(value, format), " 95 %") : null,
      h("div", { class: "note" }, note));
  }

  function tiles(score) {
    const all = score.all;
    const one = all.pass["1"];
    const list = [tile("pass@1: right at the first try", one, percent,
      `${plural(all.correct, "attempt")} of ${count(all.judged)} right; ${count(all.problems_solved)} of ${plural(all.problems, "problem")} solved`)];
    if (all.fast) {
      list.push(tile("fast_1@1: right and faster", all.fast["1"]["1"], percent, "than PyTorch + NCCL, run eagerly"));
      list.push(tile("Speed-up of right attempts", all.speedup, times,
        `geometric mean of ${plural(all.speedup_of, "attempt")}`
          + (all.unmeasured > 0 ? `; ${count(all.unmeasured)} were not timed` : "")));
    }
    list.push(tile("Coverage", { value: all.coverage }, percent,
      `${count(all.judged)} of ${count(all.planned)} attempts judged; ${count(all.distinct)} distinct programs`));
    return list;
  }

  // [label, values by k, format]
  function scoreRows(all) {
    const rows = [["pass", all.pass, percent]];
    if (all.fast) for (const p of PS) rows.push([`fast_${p}`, all.fast[p], percent]);
    if (all.best) rows.push(["best of k", all.best, times]);
    return rows;
  }

  function scoreTable(all) {
    const ks = KS.filter((k) => scoreRows(all).some(([, values]) => values[k]));
    return table(["", ...ks.map((k) => numberHead(`@${k}`))], scoreRows(all).map(([label, values, format]) =>
      h("tr", {}, h("th", { scope: "row" }, label), ks.map((k) => valueCell(values[k], format)))),
    {});
  }

  function scoreForest() {
    const labels = [...KS.map((k) => [`pass@${k}`, (a) => a.pass[k]]),
      ...PS.map((p) => [`fast_${p}@1`, (a) => a.fast && a.fast[p]["1"]])];
    const isShown = labels.filter(([, get]) => runs.some((run) => { const v = get(run.score.all); return v && isThere(v.value); }));
    const series = runs.map((run) => ({
      name: run.name, color: run.number,
      points: isShown.map(([label, get]) => {
        const value = get(run.score.all);
        if (!value || !isThere(value.value)) return null;
        return { ...value, lines: [label, run.name, `${percent(value.value)} ${interval(value, percent)}`, `over ${plural(value.problems, "problem")}`] };
      }),
    }));
    return [runs.length > 1 ? legend(series) : null,
      figure("pass@k and fast_p@1 with their intervals", charts.intervals({
        rows: isShown.map(([label]) => label), series, format: axisPercent, min: 0, isShare: true, name: "problems, expected share",
      }), "Dots are means over problems; bars are 95 % bootstrap intervals over problems: what to expect at other problems of this kind.")];
  }

  function showSummary(run) {
    const score = run.score;
    const section = find("#summary");
    charts.forget(section);
    section.querySelector(".tiles").replaceChildren(...tiles(score));
    const body = section.querySelector(".body");
    body.replaceChildren(h("h3", {}, "All numbers", runs.length > 1 ? [" of ", text(run.name)] : ""),
      scoreTable(score.all),
      h("p", { class: "caption" }, "pass@k: chance that k attempts at a problem hold a right one. "
        + (score.all.fast ? "fast_p@k: that they hold one that is right and more than p times as fast as the reference. "
          + "best of k: geometric mean of the best speed-up among k, the reference at worst. " : "")
        + "Below each number its 95 % interval, where there are two problems or more; – where problems have too few attempts."),
      ...scoreForest().filter(Boolean), ...sizesPart(score));
    section.hidden = false;
  }

  function sizesPart(score) {
    const classes = Object.entries(score.sizes || {});
    if (classes.length === 0) return [];
    return [h("h3", {}, "By class of sizes"), table(["Class", numberHead("Judged"), numberHead("Came to it"), numberHead("Right"),
      numberHead("pass@1"), numberHead("Speed-up")], classes.map(([name, size]) => h("tr", {}, h("th", { scope: "row" }, name),
      numberCell(count(size.judged)), numberCell(count(size.reached)), numberCell(count(size.correct)),
      valueCell(size.pass_1, percent), valueCell(size.speedup, times))))];
  }

  // ---- comparison ----

  const chosen = { a: 0, b: 1 };

  function pairOf(a, b) {
    return data.pairs.find((pair) => (pair.a === a && pair.b === b));
  }

  function compareRows(compare) {
    const rows = [];
    for (const k of KS) rows.push([`pass@${k}`, compare.pass[k], false]);
    for (const p of PS) for (const k of KS) rows.push([`fast_${p}@${k}`, compare.fast[p][k], false]);
    for (const k of KS) rows.push([`best of ${k}`, compare.best[k], true]);
    rows.push(["speed-up of correct", compare.speedup, true]);
    return rows.filter(([, row]) => row);
  }

  function compareTable(rows) {
    const cell = (value, isRatio) => numberCell(isRatio ? times(value) : percent(value));
    return table(["", numberHead("A"), numberHead("B"), numberHead("B less A, or B / A"), numberHead("95 %"), numberHead("p"), numberHead("Problems")],
      rows.map(([label, row, isRatio]) => {
        const change = isRatio ? row.ratio : row.difference;
        const format = isRatio ? times : points;
        return h("tr", {}, h("th", { scope: "row" }, label), cell(row.a, isRatio), cell(row.b, isRatio),
          numberCell(format(change.value)), numberCell(interval(change, format)), numberCell(row.p.toFixed(4)), numberCell(count(row.problems)));
      }));
  }

  function compareForest(compare) {
    const rows = compareRows(compare).filter(([label, row, isRatio]) => !isRatio && /@1$/.test(label) && row.difference);
    if (rows.length === 0) return null;
    return figure("differences with their intervals", charts.intervals({
      rows: rows.map(([label]) => label), format: (value) => points(value).replace(/\.0$|^±0\.0/, "") || "0", zero: 0, name: "B less A, percentage points",
      series: [{ name: "difference", color: chosen.b, points: rows.map(([label, row]) => ({
        ...row.difference, lines: [label, `${points(row.difference.value)} points`, `p = ${row.p.toFixed(4)}`],
      })) }],
    }), "Paired over problems; bars are 95 % bootstrap intervals. Right of the line B is better.");
  }

  function flips(compare) {
    const lists = [["solved_only_by_a", "Solved only by A"], ["solved_only_by_b", "Solved only by B"],
      ["faster_only_by_a", "Faster than the reference only by A"], ["faster_only_by_b", "Faster than the reference only by B"]];
    return lists.filter(([key]) => compare[key].length > 0).map(([key, title]) => h("p", {},
      h("b", {}, `${title} (${compare[key].length}): `), h("span", { class: "text" }, compare[key].join(", "))));
  }

  function compareBody(pair) {
    if (pair.refused) return [empty("These runs are not compared: ", text(pair.refused))];
    const compare = pair.compare;
    const marks = [];
    if (compare.different) marks.push(h("p", { class: "mark" }, h("b", {}, "MIXED"), `: ${compare.different.join(", ")} differ between the runs`));
    if (!compare.complete)
      marks.push(h("p", { class: "mark" }, h("b", {}, "INCOMPLETE"), `: paired over ${plural(compare.paired, "problem")}; ${compare.only_a} only in A, ${compare.only_b} only in B`));
    // First what people decide by; the rest on demand.
    const rows = compareRows(compare);
    const isFirst = ([label]) => /^pass|@1$|^speed-up/.test(label);
    const rest = rows.filter((row) => !isFirst(row));
    return [...marks, compareForest(compare), compareTable(rows.filter(isFirst)),
      rest.length > 0 ? h("details", {}, h("summary", {}, `${rest.length} more numbers`), compareTable(rest)) : null,
      h("p", { class: "caption" }, "Differences in percentage points, ratios of speed-ups. p: two-sided permutation test over problems. Choose the number that decides "
        + "before you look: of 20 numbers without a difference one has p < 0.05."),
      ...flips(compare)].filter(Boolean);
  }

  function showCompare() {
    if (runs.length < 2) return;
    const body = h("div");
    const draw = () => {
      charts.forget(body);
      const pair = pairOf(chosen.a, chosen.b);
      body.replaceChildren(...(pair ? compareBody(pair) : [empty("Choose two different runs.")]));
    };
    const options = () => data.pairs.map((pair) => h("option", { value: `${pair.a},${pair.b}` },
      `A: ${runs[pair.a].name} – B: ${runs[pair.b].name}`));
    const select = h("select", {
      onchange: () => { [chosen.a, chosen.b] = select.value.split(",").map(Number); draw(); },
    }, options());
    fill("compare", h("div", { class: "controls" }, h("label", {}, "Runs ", select)),
      data.pairs.length === 1 ? h("p", {}, "A is ", text(runs[0].name), ", B is ", text(runs[1].name), ".") : null, body);
    if (data.pairs.length === 1) find("#compare .controls").hidden = true;
    draw();
  }

  // ---- thresholds ----

  let thresholdK = "1";

  function showThresholds() {
    const withCurve = runs.filter((run) => run.curve);
    if (withCurve.length === 0) {
      fill("thresholds", empty(runs.some((run) => run.score.screened_on_cpu)
        ? "Screened on cpu: nothing is known of speed." : "No attempt that is right was timed."));
      return;
    }
    const ks = KS.filter((k) => withCurve.some((run) => run.curve.k[k])).map(String);
    if (!ks.includes(thresholdK)) thresholdK = ks[0];
    const series = withCurve.filter((run) => run.curve.k[thresholdK]).map((run) => {
      const curve = run.curve.k[thresholdK];
      return {
        name: run.name, color: run.number, dashed: run.number === data.upper_bound,
        points: run.curve.thresholds.map((x, at) => ({
          x, value: curve.value[at], ...(curve.low ? { low: curve.low[at], high: curve.high[at] } : {}),
        })),
      };
    });
    const lines = (items) => items.length === 0 ? [] : [`more than ${charts.ratio(items[0].x)} as fast`,
      ...items.map((item) => `${item.name}: ${percent(item.value)} ${interval(item, percent)}`)];
    fill("thresholds",
      ks.length > 1 ? choice("k", "Attempts at a problem, k", ks.map((k) => [k, k]), thresholdK, (k) => { thresholdK = k; showThresholds(); }) : null,
      runs.length > 1 ? legend(series) : null,
      figure("Share of problems by speed-up threshold",
        charts.curves({ series, percent: axisPercent, name: `fast_p@${thresholdK}`, lines }),
        `fast_p@${thresholdK}: expected share of problems with an attempt that is right and more than p times as fast as the reference, against p. Bands are 95 % intervals over problems.`));
  }

  // ---- categories and collectives ----

  let grouping = "categories";

  function showGroups(run) {
    const groups = Object.entries(run.score[grouping] || {});
    const measures = [["pass@1", (g) => g.pass["1"], 0]];
    if (run.score.all.fast) measures.push(["fast_1@1", (g) => g.fast["1"]["1"], 2]);
    const series = measures.map(([name, get, color]) => ({
      name, color,
      points: groups.map(([group, numbers]) => {
        const value = get(numbers);
        return value && isThere(value.value) ? { ...value, lines: [`${group}, ${name}`, `${percent(value.value)} ${interval(value, percent)}`,
          `over ${plural(value.problems, "problem")}`] } : null;
      }),
    }));
    fill("groups", choice("grouping", "Grouped by", [["categories", "category"], ["collectives", "collective"]], grouping,
      (value) => { grouping = value; showGroups(run); }),
    groups.length === 0 ? empty("No problem of this run names one.") : [legend(series),
      figure(`pass@1 by ${grouping}`, charts.intervals({
        rows: groups.map(([group, numbers]) => `${group} (${numbers.problems})`), series, format: axisPercent, min: 0, max: 1, bars: true,
      }), "In brackets the number of problems. Error bars are 95 % intervals over problems; one problem has none."
        + (grouping === "collectives" ? " A problem with two collectives counts in both." : ""))]);
  }

  // ---- funnel ----

  const stageText = {
    asked: "asked", extracted: "holds code", compiled: "compiles", correct: "is right", fast: "is faster",
  };

  const lostText = {
    extracted: "held no code", compiled: "did not compile", correct: "were not right", fast: "were not faster",
  };

  function showFunnel(run) {
    const first = run.funnel[0].count;
    const lostList = (stage) => Object.entries(stage.lost).sort((a, b) => b[1] - a[1]);
    const stages = run.funnel.map((stage) => ({
      name: stageText[stage.stage], count: stage.count,
      label: `${count(stage.count)}  (${first > 0 ? Math.round(100 * stage.count / first) : 0} %)`,
      lines: [stageText[stage.stage], plural(stage.count, "attempt")],
    }));
    const rows = run.funnel.flatMap((stage) => lostList(stage).map(([name, lost]) => h("tr", {},
      h("td", {}, lostText[stage.stage]), h("td", {}, h("span", { class: "verdict" }, name)), numberCell(count(lost)))));
    fill("funnel", h("div", { class: "columns" },
      figure("Attempts that came to each stage", charts.funnel({ stages, color: run.number }), "Attempts that came to each stage, and their share of those asked."),
      rows.length > 0 ? table(["Lost there", "Verdict", numberHead("Attempts")], rows) : h("p", { class: "quiet" }, "Nothing was lost on the way.")));
  }

  // ---- floor ----

  // The fastest right attempt at each problem and scored size whose floor is known.
  function floorPoints(run) {
    const best = new Map();
    for (const attempt of attemptsOf(run).filter((one) => one.verdict === "CORRECT"))
      for (const [size, , speedup, , , own, , , share] of attempt.sizes) {
        const name = `${attempt.problem}, ${run.attempts.sizes[size]}`;
        const before = best.get(name);
        if (!(share > 0 && speedup > 0) || (before && before.y >= speedup)) continue;
        best.set(name, { x: share, y: speedup, lines: [name, `${run.name}, sample ${attempt.sample}`,
          `${times(speedup)} as fast as the reference: ${duration(own)}`, `${percent(share)} of the floor`] });
      }
    return [...best.values()];
  }

  function showFloor() {
    const series = runs.filter((run) => run.has_floors)
      .map((run) => ({ name: run.name, color: run.number, points: floorPoints(run) })).filter((one) => one.points.length > 0);
    if (runs.every((run) => !run.score.all.fast)) {
      find("#floor").hidden = true; // the section before says that nothing is known of speed
    } else if (series.length === 0) {
      fill("floor", empty(runs.some((run) => run.has_floors) ? "No right attempt was timed at a problem whose floor is known."
        : "Not shown: what this machine can do at best is not known (pkbench report --ceilings FILE)."));
    } else {
      fill("floor", runs.length > 1 ? legend(series) : null,
        figure("Speed-up against share of the floor", charts.scatter({ series, percent: axisPercent, xName: "share of the floor" }),
          "A dot for the fastest right attempt at each problem and scored size. Share of the floor: the least time that the problem's work takes at "
            + "this machine's ceilings (arithmetic, memory, links), as part of the attempt's time; 100 % cannot be beaten. Problems whose work depends on "
            + "data are left out."));
    }
  }

  return { marksOf, showRuns, showSummary, showCompare, showThresholds, showGroups, showFunnel, showFloor };
})();
