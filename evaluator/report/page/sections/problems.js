// SPDX-License-Identifier: Apache-2.0
//
// The table of problems of one run; a row opens to the attempts at it.
"use strict";

page.problems = (() => {
  const { attemptsOf, upperBoundFor } = page.given;
  const { button, caption, cell, controls, dash, fill, h, menu, searchBox } = page.pieces;
  const { nameCell, numberCell, numberHead, row } = page.pieces;
  const { count, isThere, percent, plural, times } = page.numbers;
  const { verdictMark, speedupText, details } = page.attempt;

  const MORE_ROWS = 50; // attempts at a problem that are shown at a time

  // Kept when another run is chosen.
  const state = { column: 0, isDown: false, words: "", category: "", kind: "" };

  // ---- rows ----

  function fastestOf(run) {
    const fastest = new Map();
    for (const { problem, speedup } of attemptsOf(run))
      if (speedup > (fastest.get(problem) || 0)) fastest.set(problem, speedup);
    return fastest;
  }

  function boundsOf(run) {
    const bound = upperBoundFor(run);
    const list = bound ? bound.score.problems : [];
    return new Map(list.map(({ problem, speedup }) => [problem, speedup]));
  }

  // [verdict, attempts], or ["", 0]
  function mostLostTo({ verdicts }) {
    const lost = Object.entries(verdicts).filter(([name]) => name !== "CORRECT");
    return lost.toSorted((a, b) => b[1] - a[1])[0] || ["", 0];
  }

  function rowsOf(run) {
    const fastest = fastestOf(run);
    const bounds = boundsOf(run);
    return run.score.problems.map((one) => ({
      ...one,
      share: one.judged > 0 ? one.correct / one.judged : undefined,
      faster1: one.faster && one.faster["1"],
      fastest: fastest.get(one.problem),
      bound: bounds.get(one.problem),
      lost: mostLostTo(one),
    }));
  }

  // ---- columns ----

  function numberColumn(name, key, format, hint) {
    const shown = (value) => (isThere(value) ? format(value) : dash());
    return {
      name,
      title: hint,
      isNumber: true,
      key: (one) => one[key],
      cell: (one) => numberCell(shown(one[key])),
    };
  }

  const SPEED_COLUMNS = [
    numberColumn("Faster", "faster1", count, "right and faster than the reference"),
    numberColumn("Speed-up", "speedup", times, "geometric mean of right, timed attempts"),
    numberColumn("Fastest", "fastest", times, "largest speed-up of one attempt"),
  ];

  const BOUND_COLUMN = numberColumn(
    "Upper bound",
    "bound",
    times,
    "speed-up of the hand-written solution",
  );

  const LOST_COLUMN = {
    name: "Most lost to",
    title: "the most frequent verdict but CORRECT",
    key: (one) => one.lost[0],
    cell: ({ lost: [name, attempts] }) =>
      nameCell(...(name ? [verdictMark(name), ` ${count(attempts)}`] : [])),
  };

  function columnsOf(run) {
    const open = (one) => () => attemptsPart(run, one.problem);
    const columns = [
      {
        name: "Problem",
        key: (one) => one.problem,
        cell: (one) => nameCell(page.sorting.nameOpener(one.problem, columns.length, open(one))),
      },
      { name: "Category", key: (one) => one.category, cell: (one) => cell(one.category) },
      numberColumn("Judged", "judged", count, "attempts with a verdict"),
      numberColumn("Right", "correct", count),
      numberColumn("Share right", "share", percent),
      ...(run.score.all.fast ? SPEED_COLUMNS : []),
      ...(upperBoundFor(run) ? [BOUND_COLUMN] : []),
      LOST_COLUMN,
    ];
    return columns;
  }

  // ---- the attempts at one problem ----

  function attemptRow(one) {
    const open = page.sorting.opener(String(one.sample), 4, () => details(one));
    return row(
      numberCell(open),
      cell(verdictMark(one.verdict)),
      numberCell(speedupText(one)),
      h("td", { class: "reason text" }, one.reason),
    );
  }

  function attemptsPart(run, problem) {
    const list = attemptsOf(run).filter((one) => one.problem === problem);
    if (list.length === 0) return [h("p", { class: "quiet" }, "No record of an attempt.")];
    const heads = [numberHead("Sample"), "Verdict", numberHead("Speed-up"), "Reason"];
    const box = page.pieces.table(heads, []);
    let next = 0;
    const add = () => {
      const part = list.slice(next, next + MORE_ROWS);
      box.querySelector("tbody").append(...part.map(attemptRow));
      next += MORE_ROWS;
      more.hidden = next >= list.length;
      more.textContent = `Show more (${count(list.length - next)} left)`;
    };
    const more = button("", {}, add);
    add();
    return [box, more];
  }

  // ---- filters ----

  const KINDS = {
    "": () => true,
    solved: (one) => one.correct > 0,
    unsolved: (one) => !(one.correct > 0),
    faster: (one) => one.faster1 > 0,
  };

  function matches(one) {
    if (state.category && one.category !== state.category) return false;
    const name = one.problem.toLowerCase();
    const words = state.words.toLowerCase().split(/\s+/);
    return KINDS[state.kind](one) && words.every((word) => name.includes(word));
  }

  function filters(run, categories, redraw) {
    const keep = (key) => (value) => {
      state[key] = value;
      redraw();
    };
    const kinds = [
      ["", "all"],
      ["solved", "solved"],
      ["unsolved", "unsolved"],
    ];
    if (run.score.all.fast) kinds.push(["faster", "faster than the reference"]);
    const names = [["", "all"], ...categories.map((name) => [name, name])];
    return controls(
      searchBox("Name", state.words, keep("words")),
      menu("Category", names, state.category, keep("category")),
      menu("Show", kinds, state.kind, keep("kind")),
    );
  }

  // ---- the section ----

  function show(run) {
    const rows = rowsOf(run);
    const columns = columnsOf(run);
    const categories = Array.from(new Set(rows.map((one) => one.category))).toSorted();
    if (state.column >= columns.length) state.column = 0;
    if (!categories.includes(state.category)) state.category = "";
    if (!run.score.all.fast && state.kind === "faster") state.kind = "";
    const box = h("div", {});
    const note = caption();
    note.setAttribute("role", "status");
    const draw = () => {
      const list = page.sorting.sorted(rows.filter(matches), columns[state.column], state.isDown);
      const found = `${count(list.length)} of ${plural(rows.length, "problem")}`;
      page.sorting.draw(box, columns, list, state, draw);
      note.textContent = `${found}. A row opens to its attempts.`;
    };
    fill("problems", filters(run, categories, draw), box, note);
    draw();
  }

  return { show };
})();
