// SPDX-License-Identifier: Apache-2.0
//
// What a score must not be read without.
"use strict";

page.marks = (() => {
  const { mark } = page.pieces;
  const { count, plural } = page.numbers;

  function incomplete({ all, broken_lines: broken }) {
    const parts = [
      `${count(all.judged)} of ${count(all.planned)} attempts judged`,
      `${count(all.pending)} pending`,
      `${count(all.unsupported)} unsupported`,
      `${count(all.missing)} missing`,
    ];
    if (broken > 0) parts.push(`${plural(broken, "line")} no record`);
    return parts.join(", ");
  }

  // [mark, why] of each.
  function of(score) {
    const list = [];
    if (!score.complete) list.push(["INCOMPLETE", incomplete(score)]);
    if (score.mixed) list.push(["MIXED", `${score.mixed.join(", ")} differ within this run`]);
    if (score.screened_on_cpu)
      list.push(["Screened on cpu", "right or wrong only: times on the CPU device are no score"]);
    return list;
  }

  const show = (score) =>
    page.pieces.find("#marks").replaceChildren(...of(score).map(([name, why]) => mark(name, why)));

  return { of, show };
})();
