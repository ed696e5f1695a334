// SPDX-License-Identifier: Apache-2.0
//
// Shows the data of a report. Every score in it was computed by pkbench; here it is only laid out.
// Texts of records are hostile: they reach the page as text nodes only, never as markup.
"use strict";

(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const runs = data.runs.map((run, number) => ({ ...run, number, name: run.score.run }));
  const KS = [1, 3, 5, 10];
  const PS = ["1", "1.25", "1.5", "2", "4"];
  const PAGE_ROWS = 50; // of attempts shown at a time
  let shown = 0; // number of the run that is shown

  // ---- pieces of the page ----

  const find = (selector) => document.querySelector(selector);

  // h("td", {class: "number"}, "text", element): attributes, listeners (on...), children.
  function h(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes || {}))
      if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else if (value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : value);
    element.append(...children.flat().filter((child) => child !== undefined && child !== null && child !== false));
    return element;
  }

  // Puts new contents below the heading of a section.
  function fill(id, ...children) {
    const section = document.getElementById(id);
    charts.forget(section);
    for (const old of [...section.children]) if (old.tagName !== "H2") old.remove();
    section.append(...children.flat().filter(Boolean));
    section.hidden = false;
  }

  // The chart is drawn once it is in the page.
  function figure(label, build, caption) {
    const chart = h("div");
    requestAnimationFrame(() => charts.show(chart, label, build));
    return h("figure", {}, chart, h("figcaption", {}, caption));
  }

  const text = (value) => h("span", { class: "text" }, value);
  const empty = (...words) => h("p", { class: "empty" }, ...words);

  function table(head, rows, more) {
    return h("div", { class: "scroll" }, h("table", more || {},
      h("thead", {}, h("tr", {}, head.map((cell) => typeof cell === "string" ? h("th", { scope: "col" }, cell) : cell))),
      h("tbody", {}, rows)));
  }

  const numberHead = (name) => h("th", { scope: "col", class: "number" }, name);
  const numberCell = (...children) => h("td", { class: "number" }, ...children);
  const swatch = (number) => {
    const box = h("span", { class: "swatch" });
    box.style.background = `var(--run-${number % 8})`;
    return box;
  };

  function legend(series) {
    return h("ul", { class: "legend" }, series.map((one) => h("li", {}, swatch(one.color), text(one.name))));
  }

  // A choice among few: radio buttons, which arrow keys move through.
  function choice(name, label, options, chosen, act) {
    const box = h("fieldset", {}, h("legend", {}, label));
    for (const [value, title] of options)
      box.append(h("label", {}, h("input", {
        type: "radio", name, value, checked: value === chosen, onchange: () => act(value),
      }), ` ${title}`));
    return h("div", { class: "controls" }, box);
  }

  // ---- numbers ----

  const isThere = (value) => value !== undefined && value !== null;
  const count = (value) => value.toLocaleString("en-US").replaceAll(",", "\u202f");
  const plural = (value, word) => `${count(value)} ${word}${value === 1 ? "" : "s"}`;
  const percent = (value) => `${(100 * value).toFixed(1)} %`;
  const axisPercent = (value) => `${Number((100 * value).toPrecision(3))} %`;
  const times = (value) => `${value >= 100 ? value.toFixed(0) : value.toPrecision(3)}×`;
  const points = (value) => `${value > 0 ? "+" : value < 0 ? "−" : "±"}${Math.abs(100 * value).toFixed(1)}`;
  const hasInterval = (value) => isThere(value.low) && isThere(value.high);

  function interval(value, format) {
    if (!hasInterval(value)) return "";
    const bare = (number) => format(number).replace(/ ?[%×]$/, "");
    return `[${bare(value.low)}, ${bare(value.high)}]`;
  }

  // As in pkbench score: microseconds, milliseconds or seconds with three digits.
  function duration(us) {
    if (us >= 1e6) return `${(us / 1e6).toPrecision(3)} s`;
    return us >= 1e3 ? `${(us / 1e3).toPrecision(3)} ms` : `${us.toPrecision(3)} µs`;
  }

  function valueCell(value, format) {
    if (!value || !isThere(value.value)) return numberCell(h("span", { class: "quiet" }, "–"));
    const bounds = isThere(value.if_fail) && h("small", { title: "if what has no verdict had failed, or passed" },
      `rest fail/pass ${percent(value.if_fail)}–${percent(value.if_pass)}`);
    return numberCell(format(value.value), h("small", {}, interval(value, format)), bounds || null);
  }

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

  function verdictMark(verdict) {
    const kind = verdict === "CORRECT" ? "good"
      : ["INFRA_ERROR", "UNSUPPORTED"].includes(verdict) ? "open-case" : "bad";
    return h("span", { class: `verdict ${kind}` }, verdict);
  }

  function speedupText(attempt) {
    return attempt.speedup > 0 ? times(attempt.speedup) : "";
  }

  function sizesTable(run, attempt) {
    const names = run.attempts.sizes;
    return table(
      ["Size", "Verdict", numberHead("Attempt"), numberHead("Reference"), numberHead("Speed-up"), numberHead("95 %")],
      attempt.sizes.map(([size, verdict, speedup, low, high, own, eager, unstable]) => h("tr", {},
        h("td", {}, text(names[size])), h("td", {}, verdictMark(data.verdicts[verdict])),
        numberCell(own > 0 ? duration(own) : ""), numberCell(eager > 0 ? duration(eager) : ""),
        numberCell(speedup > 0 ? times(speedup) : ""),
        numberCell(speedup > 0 && low > 0 ? interval({ low, high }, times) : "", unstable ? " unstable" : ""))),
      { class: "plain" });
  }

  function links(attempt) {
    const list = [];
    if (attempt.source) list.push(h("a", { href: attempt.source }, "source"));
    for (const log of attempt.logs)
      list.push(h("a", { href: log }, decodeURIComponent(log.split("/").pop())));
    return list.flatMap((link, number) => number > 0 ? [" · ", link] : [link]);
  }

  // What one attempt's row opens to.
  function attemptDetails(run, attempt) {
    const parts = [];
    if (attempt.reason) parts.push(h("p", { class: "text" }, attempt.reason));
    if (attempt.sizes.length > 0) parts.push(sizesTable(run, attempt));
    const files = links(attempt);
    if (files.length > 0) parts.push(h("p", { class: "caption" }, ...files));
    if (attempt.code) parts.push(h("pre", { tabindex: 0 }, attempt.code));
    if (parts.length === 0) parts.push(h("p", { class: "quiet" }, "The record says no more."));
    return parts;
  }

  // A button in a row that opens another row below it, made when it is first opened.
  function opener(label, columns, details) {
    let inner = null;
    const button = h("button", {
      type: "button", class: "open", "aria-expanded": "false",
      onclick: () => {
        const row = button.closest("tr");
        const opens = button.getAttribute("aria-expanded") === "false";
        button.setAttribute("aria-expanded", String(opens));
        if (opens) {
          inner = h("tr", { class: "inner" }, h("td", { colspan: columns }, ...details()));
          row.after(inner);
        } else {
          inner.remove();
        }
      },
    }, label);
    return button;
  }

  // ---- tables that sort ----

  // columns: [{name, key(row) to sort by, number, cell(row)}]; `state` {column, down} is kept.
  function sortable(columns, rows, state, makeRow, redraw) {
    const head = columns.map((column, at) => {
      const isSorted = state.column === at;
      return h("th", {
        scope: "col", class: column.number ? "number" : undefined,
        "aria-sort": isSorted ? (state.down ? "descending" : "ascending") : undefined,
      }, h("button", {
        type: "button", title: column.title,
        onclick: () => {
          state.down = isSorted ? !state.down : Boolean(column.number);
          state.column = at;
          redraw();
        },
      }, column.name));
    });
    return table(head, rows.map(makeRow));
  }

  const collator = new Intl.Collator("en", { numeric: true });

  // What is not there comes last in both directions; ties stay in their order.
  function sorted(rows, column, down) {
    const keys = rows.map((row, at) => ({ row, at, key: column.key(row) }));
    const isMissing = (key) => key === undefined || key === null || key === "";
    keys.sort((a, b) => {
      if (isMissing(a.key) || isMissing(b.key)) return isMissing(a.key) - isMissing(b.key) || a.at - b.at;
      const order = typeof a.key === "number" ? a.key - b.key : collator.compare(a.key, b.key);
      return (down ? -order : order) || a.at - b.at;
    });
    return keys.map(({ row }) => row);
  }

  // ---- top ----

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

  function showTop() {
    const names = runs.map((run) => run.name);
    find("#title").replaceChildren(text(names.length <= 3 ? names.join(", ") : `${names.length} runs`));
    document.title = `pkbench: ${names.slice(0, 3).join(", ")}`;
    const select = find("#run");
    select.append(...runs.map((run) => h("option", { value: run.number }, run.name)));
    select.addEventListener("change", () => showRun(Number(select.value)));
    find("#switch").hidden = runs.length < 2;
    find("footer").textContent = `Made by pkbench ${data.pkbench}. Everything in this page is in this file; `
      + "links lead to files in the folders of the runs.";
  }

  function subtitle(run) {
    const c = run.score.conditions;
    const say = (value) => Array.isArray(value) ? value.join(" / ") : value;
    const parts = [];
    if (c.device) parts.push(`device ${say(c.device)}`);
    if (c.world) parts.push(`${say(c.world)} ranks`);
    if (c.machine) parts.push(say(c.machine));
    return parts.join(" · ");
  }

  function showRuns() {
    if (runs.length < 2) return;
    const row = (run) => h("tr", { class: run.number === shown ? "is-shown" : undefined },
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
    const labels = [["pass@1", (a) => a.pass["1"]], ["pass@3", (a) => a.pass["3"]], ["pass@5", (a) => a.pass["5"]],
      ["pass@10", (a) => a.pass["10"]], ...PS.map((p) => [`fast_${p}@1`, (a) => a.fast && a.fast[p]["1"]])];
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
      h("p", { class: "caption" }, "pass@k: chance that k attempts at a problem hold a right one. fast_p@k: that they hold one that is right and "
        + "more than p times as fast as the reference. best of k: geometric mean of the best speed-up among k, the reference at worst. "
        + "Below each number its 95 % interval; – where some problem has too few attempts, or nothing was timed."),
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
    const lines = (items) => items.length === 0 ? [] : [`more than ${charts.times(items[0].x)} as fast`,
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
    if (series.length === 0) {
      fill("floor", empty(runs.some((run) => run.has_floors) ? "No right attempt was timed at a problem whose floor is known."
        : "Not shown: what this machine can do at best is not known (pkbench report --ceilings FILE)."));
      return;
    }
    fill("floor", runs.length > 1 ? legend(series) : null,
      figure("Speed-up against share of the floor", charts.scatter({ series, percent: axisPercent, xName: "share of the floor" }),
        "A dot for the fastest right attempt at each problem and scored size. Share of the floor: the least time that the problem's work takes at this machine's "
          + "ceilings (arithmetic, memory, links), as part of the attempt's time; 100 % cannot be beaten. Problems whose work depends on data are left out."));
  }

  // ---- problems ----

  const problemState = { column: 0, down: false, words: "", category: "", state: "" };

  function problemRows(run) {
    const fastest = new Map();
    for (const attempt of attemptsOf(run))
      if (attempt.speedup > (fastest.get(attempt.problem) || 0)) fastest.set(attempt.problem, attempt.speedup);
    const bound = isThere(data.upper_bound) && data.upper_bound !== run.number
      ? new Map(runs[data.upper_bound].score.problems.map((problem) => [problem.problem, problem.speedup])) : null;
    return run.score.problems.map((problem) => ({
      ...problem, fastest: fastest.get(problem.problem), bound: bound ? bound.get(problem.problem) : undefined,
      faster1: problem.faster ? problem.faster["1"] : undefined,
    }));
  }

  function problemColumns(run) {
    const number = (name, get, format, title) => ({
      name, title, number: true, key: get, cell: (row) => numberCell(isThere(get(row)) ? format(get(row)) : h("span", { class: "quiet" }, "–")),
    });
    const columns = [
      { name: "Problem", key: (row) => row.problem },
      { name: "Category", key: (row) => row.category, cell: (row) => h("td", {}, row.category) },
      number("Judged", (row) => row.judged, count, "attempts with a verdict"),
      number("Right", (row) => row.correct, count),
      {
        name: "Share right", number: true, key: (row) => row.judged > 0 ? row.correct / row.judged : undefined,
        cell: (row) => numberCell(row.judged > 0 ? percent(row.correct / row.judged) : h("span", { class: "quiet" }, "–")),
      },
    ];
    if (run.score.all.fast) {
      columns.push(number("Faster", (row) => row.faster1, count, "right and faster than the reference"),
        number("Speed-up", (row) => row.speedup, times, "geometric mean of right, timed attempts"),
        number("Fastest", (row) => row.fastest, times, "largest speed-up of one attempt"));
    }
    if (isThere(data.upper_bound) && data.upper_bound !== run.number)
      columns.push(number("Upper bound", (row) => row.bound, times, "speed-up of the hand-written solution"));
    columns.push({
      name: "Most lost to", title: "the most frequent verdict but CORRECT", key: (row) => otherVerdict(row)[0],
      cell: (row) => { const [name, n] = otherVerdict(row); return h("td", { class: "name" }, name ? [verdictMark(name), ` ${count(n)}`] : ""); },
    });
    return columns;
  }

  function otherVerdict(row) {
    return Object.entries(row.verdicts).filter(([name]) => name !== "CORRECT").sort((a, b) => b[1] - a[1])[0] || ["", 0];
  }

  function matches(row) {
    const { words, category, state } = problemState;
    if (category && row.category !== category) return false;
    if (state === "solved" && !(row.correct > 0)) return false;
    if (state === "unsolved" && row.correct > 0) return false;
    if (state === "faster" && !(row.faster1 > 0)) return false;
    return words.split(/\s+/).every((word) => row.problem.toLowerCase().includes(word.toLowerCase()));
  }

  // The attempts at one problem, a page of them at a time.
  function problemDetails(run, name) {
    const list = attemptsOf(run).filter((attempt) => attempt.problem === name);
    if (list.length === 0) return [h("p", { class: "quiet" }, "No record of an attempt.")];
    const body = h("tbody");
    const row = (attempt) => h("tr", {},
      h("td", { class: "number" }, opener(String(attempt.sample), 4, () => attemptDetails(run, attempt))),
      h("td", {}, verdictMark(attempt.verdict)), numberCell(speedupText(attempt)),
      h("td", { class: "reason text" }, attempt.reason));
    let next = 0;
    const more = h("button", { type: "button", class: "button", onclick: () => add() }, "");
    const add = () => {
      body.append(...list.slice(next, next + PAGE_ROWS).map(row));
      next += PAGE_ROWS;
      more.hidden = next >= list.length;
      more.textContent = `Show more (${count(list.length - next)} left)`;
    };
    add();
    return [h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, numberHead("Sample"), h("th", { scope: "col" }, "Verdict"),
      numberHead("Speed-up"), h("th", { scope: "col" }, "Reason"))), body)), more];
  }

  function filterBox(label, state, redraw) {
    return h("label", {}, `${label} `, h("input", {
      type: "search", value: state.words, oninput: (event) => { state.words = event.target.value; redraw(); },
    }));
  }

  function filterSelect(label, options, get, set, redraw) {
    const select = h("select", { onchange: () => { set(select.value); redraw(); } },
      options.map(([value, title]) => h("option", { value, selected: value === get() }, title)));
    return h("label", {}, `${label} `, select);
  }

  function showProblems(run) {
    const rows = problemRows(run);
    const columns = problemColumns(run);
    if (problemState.column >= columns.length) problemState.column = 0;
    const box = h("div");
    const note = h("p", { class: "caption", role: "status" });
    const draw = () => {
      const list = sorted(rows.filter(matches), columns[problemState.column], problemState.down);
      box.replaceChildren(sortable(columns, list, problemState, (row) => h("tr", {},
        h("td", { class: "name" }, opener(row.problem, columns.length, () => problemDetails(run, row.problem))),
        columns.slice(1).map((column) => column.cell(row))), keepFocus(box, draw)));
      note.textContent = `${count(list.length)} of ${plural(rows.length, "problem")}. A row opens to its attempts.`;
    };
    const categories = [...new Set(rows.map((row) => row.category))].sort();
    if (!categories.includes(problemState.category)) problemState.category = "";
    fill("problems", h("div", { class: "controls" }, filterBox("Name", problemState, draw),
      filterSelect("Category", [["", "all"], ...categories.map((name) => [name, name])], () => problemState.category,
        (value) => { problemState.category = value; }, draw),
      filterSelect("Show", [["", "all"], ["solved", "solved"], ["unsolved", "unsolved"],
        ...(run.score.all.fast ? [["faster", "faster than the reference"]] : [])], () => problemState.state,
      (value) => { problemState.state = value; }, draw)), box, note);
    draw();
  }

  // Redraws a table and gives the button that was pressed its focus back.
  function keepFocus(box, draw) {
    return () => {
      const buttons = [...box.querySelectorAll("th button")];
      const at = buttons.indexOf(document.activeElement);
      draw();
      if (at >= 0) box.querySelectorAll("th button")[at].focus();
    };
  }

  // ---- attempts ----

  const attemptState = { column: 0, down: false, words: "", verdict: "", page: 0 };

  function attemptColumns(run) {
    const columns = [
      { name: "Problem", key: (row) => row.problem },
      { name: "Sample", number: true, key: (row) => row.sample, cell: (row) => numberCell(String(row.sample)) },
      { name: "Verdict", key: (row) => row.verdict, cell: (row) => h("td", {}, verdictMark(row.verdict)) },
    ];
    if (run.score.all.fast)
      columns.push({
        name: "Speed-up", number: true, key: (row) => row.speedup > 0 ? row.speedup : undefined,
        cell: (row) => numberCell(speedupText(row), row.speedup > 0 ? h("small", {}, interval(row, times)) : null),
      });
    columns.push({ name: "Reason", key: (row) => row.reason, cell: (row) => h("td", { class: "reason text" }, row.reason) },
      { name: "Files", key: (row) => row.source, cell: (row) => h("td", {}, ...links(row)) });
    return columns;
  }

  function attemptMatches(row) {
    const { words, verdict } = attemptState;
    if (verdict && row.verdict !== verdict) return false;
    if (!words) return true;
    const all = `${row.problem} ${row.verdict} ${row.reason}`.toLowerCase();
    return words.toLowerCase().split(/\s+/).every((word) => all.includes(word));
  }

  function pager(total, draw) {
    const pages = Math.max(1, Math.ceil(total / PAGE_ROWS));
    attemptState.page = Math.min(attemptState.page, pages - 1);
    const first = attemptState.page * PAGE_ROWS;
    const go = (by) => () => { attemptState.page += by; draw(); };
    const word = total === 0 ? "No attempt matches." : `Attempts ${count(first + 1)} to ${count(Math.min(total, first + PAGE_ROWS))} of ${count(total)}`;
    return [h("button", { type: "button", class: "button", disabled: attemptState.page === 0, onclick: go(-1), "aria-label": "previous attempts" }, "‹"),
      h("span", { class: "caption", role: "status" }, word),
      h("button", { type: "button", class: "button", disabled: attemptState.page >= pages - 1, onclick: go(1), "aria-label": "next attempts" }, "›")];
  }

  function showAttempts(run) {
    const rows = attemptsOf(run);
    const columns = attemptColumns(run);
    if (attemptState.column >= columns.length) attemptState.column = 0;
    const box = h("div"), pages = h("div", { class: "controls pages" });
    const draw = () => {
      const list = sorted(rows.filter(attemptMatches), columns[attemptState.column], attemptState.down);
      pages.replaceChildren(...pager(list.length, draw));
      const part = list.slice(attemptState.page * PAGE_ROWS, (attemptState.page + 1) * PAGE_ROWS);
      box.replaceChildren(sortable(columns, part, attemptState, (row) => h("tr", {},
        h("td", { class: "name" }, opener(row.problem, columns.length, () => attemptDetails(run, row))),
        columns.slice(1).map((column) => column.cell(row))), keepFocus(box, draw)));
    };
    const restart = () => { attemptState.page = 0; draw(); };
    const verdicts = data.verdicts.filter((name) => run.score.verdicts[name] > 0);
    if (!verdicts.includes(attemptState.verdict)) attemptState.verdict = "";
    fill("attempts", h("div", { class: "controls" }, filterBox("Words in problem, verdict or reason", attemptState, restart),
      filterSelect("Verdict", [["", "all"], ...verdicts.map((name) => [name, `${name} (${count(run.score.verdicts[name])})`])],
        () => attemptState.verdict, (value) => { attemptState.verdict = value; }, restart)), box, pages,
    run.attempts.changed_sources > 0 ? h("p", { class: "caption" },
      `${plural(run.attempts.changed_sources, "source")} changed since the verdict and are not shown.`) : null);
    draw();
  }

  // ---- environment ----

  const factText = new Map(Object.entries({
    device: "Device", world: "Ranks", sandbox: "Sandbox level", "machine.class": "Machine class", "versions.pkbench": "pkbench",
    "versions.protocol": "Protocol version", "versions.torch": "PyTorch", "versions.nvcc": "nvcc", "versions.nccl": "NCCL",
    "reference.torch": "Reference: PyTorch", "reference.threads": "Reference: threads", "reference.cuda": "Reference: CUDA",
    "reference.nccl": "Reference: NCCL", "reference.tf32": "Reference: TF32", "flags.sizes": "Sizes asked", "flags.timing": "Timing",
    "flags.timeout_s": "Time limit, seconds", "flags.seed": "Seed of the inputs", "flags.grid": "Grid", "flags.feedback": "Feedback level",
    "flags.policy": "Policy",
  }));

  function showEnvironment(run) {
    const { facts } = run.attempts;
    const score = run.score;
    const rows = facts.map(([name, values, rest]) => h("tr", {}, h("th", { scope: "row" }, factText.get(name) || h("span", { class: "mono text" }, name)),
      h("td", {}, values.flatMap((value, at) => [at > 0 ? ", " : "", text(value)]), rest > 0 ? ` and others (${count(rest)} records)` : "")));
    const hasSeed = facts.some(([name]) => name === "flags.seed");
    fill("environment", table(["What the records say", ""], rows, { class: "plain facts" }),
      h("h3", {}, "How these numbers were made"),
      h("ul", {},
        h("li", {}, "A verdict comes only from what the judge's own process observed: its clock, its reading of the outputs on every rank, the exit of a process. An attempt is CORRECT if it is right at every size asked."),
        h("li", {}, hasSeed ? "Inputs were drawn with the seed above." : "Inputs were drawn from a new secret in every session; each record keeps its own."),
        h("li", {}, `Intervals: 95 % percentile bootstrap over problems, ${count(score.bootstrap.rounds)} rounds, seed ${score.bootstrap.seed}.`),
        h("li", {}, `Planned attempts: ${score.planned_by === "plan" ? "as the plan says" : "at each problem as many as at the one that has most; nobody said how many"}. Programs counted as distinct by ${score.distinct_by === "program" ? "their code without comments and white space" : "their bytes"}.`),
        score.all.fast ? h("li", {}, "Speed-up of an attempt: geometric mean over its scored sizes (classes pkb and large) of the median ratio of paired batches, against PyTorch + NCCL run eagerly on the same machine in the same memory.") : null),
      score.notes.length > 0 ? [h("h3", {}, "Notes"), h("ul", {}, score.notes.map((note) => h("li", { class: "text" }, note)))].flat() : null);
  }

  // ---- the whole ----

  function showRun(number) {
    const run = runs[number];
    shown = number;
    find("#subtitle").replaceChildren(text(subtitle(run)));
    find("#marks").replaceChildren(...marksOf(run.score).map(([mark, words]) =>
      h("p", { class: "mark" }, h("b", {}, mark), ": ", words)));
    attemptState.page = 0;
    showRuns();
    showSummary(run);
    showThresholds();
    showGroups(run);
    showFunnel(run);
    showFloor(run);
    showProblems(run);
    showAttempts(run);
    showEnvironment(run);
    document.body.dataset.run = run.name;
  }

  showTop();
  showCompare();
  showRun(0);
})();
