// SPDX-License-Identifier: Apache-2.0
//
// The table of all attempts of one run, a page of them at a time.
"use strict";

page.attempts = (() => {
  const { data, attemptsOf } = page.given;
  const { button, caption, controls, fill, h, menu, searchBox } = page.pieces;
  const { cell, nameCell, numberCell } = page.pieces;
  const { count, interval, plural, times } = page.numbers;
  const { verdictMark, speedupText, links, details } = page.attempt;

  const PAGE_ROWS = 50;

  // Kept when another run is chosen, but for the page.
  const state = { column: 0, isDown: false, words: "", verdict: "", page: 0 };

  // ---- columns ----

  const SPEED_COLUMN = {
    name: "Speed-up",
    isNumber: true,
    key: ({ speedup }) => (speedup > 0 ? speedup : undefined),
    cell: (one) => {
      const range = one.speedup > 0 ? h("small", {}, interval(one, times)) : null;
      return numberCell(speedupText(one), range);
    },
  };

  const SAMPLE_COLUMN = {
    name: "Sample",
    isNumber: true,
    key: (one) => one.sample,
    cell: (one) => numberCell(String(one.sample)),
  };

  const VERDICT_COLUMN = {
    name: "Verdict",
    key: (one) => one.verdict,
    cell: (one) => cell(verdictMark(one.verdict)),
  };

  const REASON_COLUMN = {
    name: "Reason",
    key: (one) => one.reason,
    cell: (one) => h("td", { class: "reason text" }, one.reason),
  };

  function columnsOf(run) {
    const open = (one) => page.sorting.nameOpener(one.problem, columns.length, () => details(one));
    const columns = [
      { name: "Problem", key: (one) => one.problem, cell: (one) => nameCell(open(one)) },
      SAMPLE_COLUMN,
      VERDICT_COLUMN,
      ...(run.score.all.fast ? [SPEED_COLUMN] : []),
      REASON_COLUMN,
      { name: "Files", key: (one) => one.source, cell: (one) => cell(...links(one)) },
    ];
    return columns;
  }

  // ---- filters and pages ----

  function matches(one) {
    if (state.verdict && one.verdict !== state.verdict) return false;
    if (!state.words) return true;
    const all = `${one.problem} ${one.verdict} ${one.reason}`.toLowerCase();
    const words = state.words.toLowerCase().split(/\s+/);
    return words.every((word) => all.includes(word));
  }

  function filters(run, verdicts, redraw) {
    const keep = (key) => (value) => {
      state[key] = value;
      state.page = 0;
      redraw();
    };
    const counted = (name) => [name, `${name} (${count(run.score.verdicts[name])})`];
    const options = [["", "all"], ...verdicts.map(counted)];
    return controls(
      searchBox("Words in problem, verdict or reason", state.words, keep("words")),
      menu("Verdict", options, state.verdict, keep("verdict")),
    );
  }

  function pageWords(total) {
    if (total === 0) return "No attempt matches.";
    const first = state.page * PAGE_ROWS;
    const last = Math.min(total, first + PAGE_ROWS);
    return `Attempts ${count(first + 1)} to ${count(last)} of ${count(total)}`;
  }

  function pager(total, redraw) {
    const last = Math.max(1, Math.ceil(total / PAGE_ROWS)) - 1;
    state.page = Math.min(state.page, last);
    const turn = (label, name, by, disabled) => {
      const act = () => {
        state.page += by;
        redraw();
      };
      return button(label, { disabled, "aria-label": name }, act);
    };
    return [
      turn("‹", "previous attempts", -1, state.page === 0),
      h("span", { class: "caption", role: "status" }, pageWords(total)),
      turn("›", "next attempts", 1, state.page >= last),
    ];
  }

  // ---- the section ----

  function changedNote(run) {
    const changed = run.attempts.changed_sources;
    if (!(changed > 0)) return null;
    return caption(`${plural(changed, "source")} changed since the verdict and are not shown.`);
  }

  function show(run) {
    const rows = attemptsOf(run);
    const columns = columnsOf(run);
    const verdicts = data.verdicts.filter((name) => run.score.verdicts[name] > 0);
    state.page = 0;
    if (state.column >= columns.length) state.column = 0;
    if (!verdicts.includes(state.verdict)) state.verdict = "";
    const box = h("div", {});
    const pages = h("div", { class: "controls pages" });
    const draw = () => {
      const list = page.sorting.sorted(rows.filter(matches), columns[state.column], state.isDown);
      pages.replaceChildren(...pager(list.length, draw));
      const first = state.page * PAGE_ROWS;
      page.sorting.draw(box, columns, list.slice(first, first + PAGE_ROWS), state, draw);
    };
    fill("attempts", filters(run, verdicts, draw), box, pages, changedNote(run));
    draw();
  }

  return { show };
})();
