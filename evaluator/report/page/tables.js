// SPDX-License-Identifier: Apache-2.0
//
// Tables of problems and attempts: they sort and filter, and rows open to what is known of them.
"use strict";

const tables = (() => {
  const { data, runs, attemptsOf } = given;
  const { h, fill, text, dash, table, numberHead, numberCell } = pieces;
  const { isThere, count, plural, percent, times, interval, duration } = pieces;

  const PAGE_ROWS = 50; // of attempts shown at a time

  // ---- one attempt ----

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

  // The name that a link ends in, for people. Names of files are anybody's bytes: one that is no
  // UTF-8 stays encoded, and what would change the order or place of letters is left out.
  function fileName(link) {
    const name = link.split("/").pop();
    try {
      return decodeURIComponent(name).replace(/[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu, "?");
    } catch {
      return name;
    }
  }

  function links(attempt) {
    const list = [];
    if (attempt.source) list.push(h("a", { href: attempt.source }, "source"));
    for (const log of attempt.logs) list.push(h("a", { href: log }, text(fileName(log))));
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

  // A name that may break behind its underscores.
  const breakable = (name) => name.split("_").flatMap((part, at) => at > 0 ? ["_", h("wbr"), part] : [part]);

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
      name, title, number: true, key: get,
      cell: (row) => numberCell(isThere(get(row)) ? format(get(row)) : dash()),
    });
    const columns = [
      { name: "Problem", key: (row) => row.problem },
      { name: "Category", key: (row) => row.category, cell: (row) => h("td", {}, row.category) },
      number("Judged", (row) => row.judged, count, "attempts with a verdict"),
      number("Right", (row) => row.correct, count),
      {
        name: "Share right", number: true, key: (row) => row.judged > 0 ? row.correct / row.judged : undefined,
        cell: (row) => numberCell(row.judged > 0 ? percent(row.correct / row.judged) : dash()),
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
        h("td", { class: "name" }, opener(breakable(row.problem), columns.length, () => problemDetails(run, row.problem))),
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
    attemptState.page = 0;
    const rows = attemptsOf(run);
    const columns = attemptColumns(run);
    if (attemptState.column >= columns.length) attemptState.column = 0;
    const box = h("div"), pages = h("div", { class: "controls pages" });
    const draw = () => {
      const list = sorted(rows.filter(attemptMatches), columns[attemptState.column], attemptState.down);
      pages.replaceChildren(...pager(list.length, draw));
      const part = list.slice(attemptState.page * PAGE_ROWS, (attemptState.page + 1) * PAGE_ROWS);
      box.replaceChildren(sortable(columns, part, attemptState, (row) => h("tr", {},
        h("td", { class: "name" }, opener(breakable(row.problem), columns.length, () => attemptDetails(run, row))),
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

  return { showProblems, showAttempts };
})();
