// SPDX-License-Identifier: Apache-2.0
//
// Speed-ups against how close attempts come to the least time that is possible.
"use strict";

page.floor = (() => {
  const { runs, attemptsOf } = page.given;
  const { empty, figure, fill, find, legend } = page.pieces;
  const { duration, percent, times } = page.numbers;

  const WORDS =
    "A dot for the fastest right attempt at each problem and scored size. Share of the floor: " +
    "the least time that the problem's work takes at this machine's ceilings (arithmetic, " +
    "memory, links), as part of the attempt's time; 100 % cannot be beaten. Problems whose work " +
    "depends on data are left out.";

  // The floor of this attempt at this size is known.
  const isKnown = (size) => size.share > 0 && size.speedup > 0;

  function pointOf(run, attempt, size) {
    const name = `${attempt.problem}, ${size.name}`;
    const lines = [
      name,
      `${run.name}, sample ${attempt.sample}`,
      `${times(size.speedup)} as fast as the reference: ${duration(size.ownUs)}`,
      `${percent(size.share)} of the floor`,
    ];
    return { name, x: size.share, y: size.speedup, lines };
  }

  // The fastest right attempt at each problem and scored size.
  function pointsOf(run) {
    const best = new Map();
    const keep = (point) => {
      const before = best.get(point.name);
      if (!before || before.y < point.y) best.set(point.name, point);
    };
    for (const attempt of attemptsOf(run))
      if (attempt.verdict === "CORRECT")
        for (const size of attempt.sizes.filter(isKnown)) keep(pointOf(run, attempt, size));
    return Array.from(best.values());
  }

  // Runs without floors although the machine is known, each with its reason.
  const reasons = () =>
    runs.filter((run) => run.no_floors).map((run) => `${run.name}: ${run.no_floors}.`);

  function noPoints() {
    if (runs.some((run) => run.has_floors))
      return "No right attempt was timed at a problem whose floor is known.";
    return reasons().length > 0
      ? "Not shown."
      : "Not shown: what this machine can do at best is not known (pkbench report " +
          "--ceilings FILE).";
  }

  function chartOf(series) {
    const chart = page.dots.build({ series, xName: "share of the floor" });
    return figure("Speed-up against share of the floor", chart, WORDS);
  }

  function show() {
    const series = runs
      .filter((run) => run.has_floors)
      .map((run) => ({ name: run.name, color: run.number, points: pointsOf(run) }))
      .filter((one) => one.points.length > 0);
    const isTimed = runs.some((run) => run.score.all.fast);
    // Otherwise the section of thresholds has said that nothing is known of speed.
    find("#floor").hidden = !isTimed;
    if (!isTimed) return;
    const why = reasons().map((reason) => empty(reason));
    if (series.length === 0) fill("floor", empty(noPoints()), why);
    else fill("floor", runs.length > 1 ? legend(series) : null, chartOf(series), why);
  }

  return { show };
})();
