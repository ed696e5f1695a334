// SPDX-License-Identifier: Apache-2.0
//
// The share of problems with a faster attempt, against how much faster.
"use strict";

page.thresholds = (() => {
  const { data, runs, KS } = page.given;
  const { choice, empty, figure, fill, legend } = page.pieces;
  const { interval, percent, ratio } = page.numbers;

  let chosenK = "1";

  function noCurve() {
    const isScreened = runs.some((run) => run.score.screened_on_cpu);
    return isScreened
      ? "Screened on cpu: nothing is known of speed."
      : "No attempt that is right was timed.";
  }

  function pointsOf({ curve }) {
    const { value, low, high } = curve.k[chosenK];
    return curve.thresholds.map((x, at) => ({
      x,
      value: value[at],
      ...(low && { low: low[at], high: high[at] }),
    }));
  }

  function seriesOf(run) {
    const isDashed = run.number === data.upper_bound;
    return { name: run.name, color: run.number, isDashed, points: pointsOf(run) };
  }

  // What a pointer shows.
  function linesOf(points) {
    if (points.length === 0) return [];
    const head = `more than ${ratio(points[0].x)} as fast`;
    const line = (point) => `${point.name}: ${percent(point.value)} ${interval(point, percent)}`;
    return [head, ...points.map(line)];
  }

  function chartOf(series) {
    const name = `fast_p@${chosenK}`;
    return figure(
      "Share of problems by speed-up threshold",
      page.curves.build({ series, name, lines: linesOf }),
      `${name}: expected share of problems with an attempt that is right and more than p times ` +
        "as fast as the reference, against p. Bands are 95 % intervals over problems.",
    );
  }

  function choose(k) {
    chosenK = k;
    show();
  }

  function show() {
    const withCurve = runs.filter((run) => run.curve);
    if (withCurve.length === 0) {
      fill("thresholds", empty(noCurve()));
      return;
    }
    const ks = KS.map(String).filter((k) => withCurve.some((run) => run.curve.k[k]));
    if (!ks.includes(chosenK)) chosenK = ks[0];
    const options = ks.map((k) => [k, k]);
    const series = withCurve.filter((run) => run.curve.k[chosenK]).map(seriesOf);
    fill(
      "thresholds",
      ks.length > 1 ? choice("k", "Attempts at a problem, k", options, chosenK, choose) : null,
      runs.length > 1 ? legend(series) : null,
      chartOf(series),
    );
  }

  return { show };
})();
