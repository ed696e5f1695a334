// SPDX-License-Identifier: Apache-2.0
//
// Numbers as people read them.
"use strict";

page.numbers = (() => {
  const isThere = (value) => value !== undefined && value !== null;
  const hasInterval = (value) => isThere(value.low) && isThere(value.high);

  const count = (value) => value.toLocaleString("en-US").replaceAll(",", "\u202f");
  const plural = (value, word) => `${count(value)} ${word}${value === 1 ? "" : "s"}`;
  const percent = (value) => `${(100 * value).toFixed(1)} %`;
  const axisPercent = (value) => `${Number((100 * value).toPrecision(3))} %`;
  const times = (value) => `${value >= 100 ? value.toFixed(0) : value.toPrecision(3)}×`;

  // Percentage points with their sign.
  function points(value) {
    const sign = value > 0 ? "+" : value < 0 ? "−" : "±";
    return `${sign}${Math.abs(100 * value).toFixed(1)}`;
  }

  // 2×, 1/2×
  function ratio(value) {
    const isPart = value < 1 && value > 0;
    const digits = Number((isPart ? 1 / value : value).toPrecision(3));
    return `${isPart ? "1/" : ""}${digits}×`;
  }

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

  return {
    isThere,
    hasInterval,
    count,
    plural,
    percent,
    axisPercent,
    times,
    points,
    ratio,
    interval,
    duration,
  };
})();
