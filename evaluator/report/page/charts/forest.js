// SPDX-License-Identifier: Apache-2.0
//
// Numbers with their intervals: a row a number, a dot or a bar with its whisker for each series.
"use strict";

page.forest = (() => {
  const { axis, colourOfRun, common, roundUp, rule, tipOfItem } = page.charts;
  const { hasInterval, interval, isThere, percent, plural } = page.numbers;

  const SERIES_HEIGHT = 13; // of a row, for each series
  const WHISKER_END = 3.5;

  // A number of a score as a point, with the lines that tell more of it.
  function pointOf(value, ...lines) {
    if (!value || !isThere(value.value)) return null;
    const number = `${percent(value.value)} ${interval(value, percent)}`;
    return { ...value, lines: [...lines, number, `over ${plural(value.problems, "problem")}`] };
  }

  // ---- one point ----

  function bar([from], [to, y], { color, barHeight }) {
    const width = Math.max(0, to - from);
    return {
      type: "rect",
      shape: { x: from, y: y - barHeight / 2, width, height: barHeight },
      style: { fill: color, opacity: 0.85 },
    };
  }

  function dot([cx, cy], { color, theme }) {
    const style = { fill: color, stroke: theme.paper, lineWidth: 1 };
    return { type: "circle", shape: { cx, cy, r: 4 }, style };
  }

  function whisker([low, y], [high], { color, theme, barHeight }) {
    const stroke = barHeight ? theme.ink : color;
    const style = { stroke, lineWidth: barHeight ? 1.2 : 1.8, fill: null };
    const line = (x1, y1, x2, y2) => ({ type: "line", shape: { x1, y1, x2, y2 }, style });
    const end = (x) => line(x, y - WHISKER_END, x, y + WHISKER_END);
    return [line(low, y, high, y), end(low), end(high)];
  }

  function drawPoint(api, look) {
    const [value, row, low, high] = [0, 1, 2, 3].map((at) => api.value(at));
    const place = (x) => {
      const [px, py] = api.coord([x, row]);
      return [px, py + look.shift];
    };
    const lines = Number.isNaN(low) ? [] : whisker(place(low), place(high), look);
    const children = look.barHeight
      ? [bar(place(0), place(value), look), ...lines]
      : [...lines, dot(place(value), look)];
    return { type: "group", children };
  }

  // ---- the chart ----

  function xAxis(theme, width, spec) {
    const points = spec.series.flatMap((series) => series.points).filter(Boolean);
    const end = Math.max(0, ...points.map((point) => point.high || point.value));
    return axis(theme, {
      type: "value",
      min: spec.min,
      max: spec.isShare ? roundUp(end) : spec.max,
      name: spec.name,
      nameGap: 26,
      axisLabel: { formatter: spec.format },
      splitNumber: width < 500 ? 5 : 8,
    });
  }

  function yAxis(theme, width, rows) {
    const longest = Math.max(...rows.map((row) => row.length));
    const labelWidth = Math.min(width * 0.38, longest * 8 + 16);
    return axis(theme, {
      type: "category",
      data: rows,
      inverse: true,
      splitLine: { show: false },
      axisLabel: { color: theme.ink, interval: 0, width: labelWidth, overflow: "truncate" },
    });
  }

  function dataOf({ points }) {
    const bound = (point, key) => (hasInterval(point) ? point[key] : NaN);
    return points.flatMap((point, row) => {
      if (!point) return [];
      const value = [point.value, row, bound(point, "low"), bound(point, "high")];
      return [{ value, lines: point.lines }];
    });
  }

  function seriesOf(theme, spec, series, number) {
    const last = spec.series.length - 1;
    const look = {
      theme,
      color: colourOfRun(series.color),
      shift: last > 0 ? SERIES_HEIGHT * (number - last / 2) : 0,
      barHeight: spec.hasBars ? (last > 0 ? 10 : 14) : 0,
    };
    const zero = { lineStyle: { color: theme.quiet, type: "solid", width: 1 } };
    const isMarked = number === 0 && spec.zero !== undefined;
    return {
      type: "custom",
      name: series.name,
      encode: { x: [0, 2, 3], y: 1 }, // the axis reaches over the intervals
      data: dataOf(series),
      renderItem: (params, api) => drawPoint(api, look),
      markLine: isMarked ? rule(theme, [{ xAxis: spec.zero }], zero) : undefined,
    };
  }

  // spec: {rows: [label], series: [{name, color, points: [{value, low, high, lines} | null]}],
  // format, name, min, max, isShare, zero, hasBars}
  function build(spec) {
    const rowHeight = Math.max(spec.hasBars ? 24 : 22, SERIES_HEIGHT * spec.series.length + 9);
    return (theme, width) => {
      const option = {
        ...common(theme),
        xAxis: xAxis(theme, width, spec),
        yAxis: yAxis(theme, width, spec.rows),
        series: spec.series.map((series, number) => seriesOf(theme, spec, series, number)),
      };
      option.tooltip.formatter = tipOfItem;
      return { option, height: spec.rows.length * rowHeight + 62 };
    };
  }

  return { build, pointOf };
})();
