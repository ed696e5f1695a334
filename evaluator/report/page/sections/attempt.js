// SPDX-License-Identifier: Apache-2.0
//
// One attempt: its verdict, and what its row opens to.
"use strict";

page.attempt = (() => {
  const { caption, cell, h, numberCell, numberHead, row, table, text } = page.pieces;
  const { duration, interval, times } = page.numbers;

  const OPEN_CASES = new Set(["INFRA_ERROR", "UNSUPPORTED"]); // not of its own doing

  const NUMBERS = ["Attempt", "Reference", "Speed-up", "95 %"]; // of a size

  function verdictMark(verdict) {
    const other = OPEN_CASES.has(verdict) ? "open-case" : "bad";
    const kind = verdict === "CORRECT" ? "good" : other;
    return h("span", { class: `verdict ${kind}` }, verdict);
  }

  // 0 = not measured.
  const shownIf = (value, format) => (value > 0 ? format(value) : "");
  const speedupText = ({ speedup }) => shownIf(speedup, times);

  function sizeRow(size) {
    const range = size.speedup > 0 && size.low > 0 ? interval(size, times) : "";
    return row(
      cell(text(size.name)),
      cell(verdictMark(size.verdict)),
      numberCell(shownIf(size.ownUs, duration)),
      numberCell(shownIf(size.eagerUs, duration)),
      numberCell(speedupText(size)),
      numberCell(range, size.isUnstable ? " unstable" : ""),
    );
  }

  function sizesTable(sizes) {
    const heads = ["Size", "Verdict", ...NUMBERS.map(numberHead)];
    return table(heads, sizes.map(sizeRow), { class: "plain" });
  }

  // The name that a link ends in, for people. Names of files are anybody's bytes: one that is no
  // UTF-8 stays encoded, and what would change the order or place of letters is left out.
  function fileName(link) {
    const name = link.split("/").pop();
    const unseen = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;
    try {
      return decodeURIComponent(name).replace(unseen, "?");
    } catch {
      return name;
    }
  }

  function links({ source, logs }) {
    const list = logs.map((log) => h("a", { href: log }, text(fileName(log))));
    if (source) list.unshift(h("a", { href: source }, "source"));
    return list.flatMap((link, number) => (number > 0 ? [" · ", link] : [link]));
  }

  // What its row opens to.
  function details(one) {
    const files = links(one);
    const parts = [
      one.reason ? h("p", { class: "text" }, one.reason) : null,
      one.sizes.length > 0 ? sizesTable(one.sizes) : null,
      files.length > 0 ? caption(...files) : null,
      one.code ? h("pre", { tabindex: 0 }, one.code) : null,
    ].filter(Boolean);
    return parts.length > 0 ? parts : [h("p", { class: "quiet" }, "The record says no more.")];
  }

  return { verdictMark, speedupText, links, details };
})();
