// SPDX-License-Identifier: Apache-2.0
//
// The kinds of charts of a report, drawn by ECharts as SVG. They are drawn anew for another width,
// another colour scheme and for print. Texts reach the page as text nodes only.
"use strict";

const charts = (() => {
  const PRINT_WIDTH = 680;
  const drawn = new Map(); // element -> {draw, chart}

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const run = (number) => colour(`--run-${number % 8}`);

  function theme() {
    return {
      ink: colour("--ink"), quiet: colour("--quiet"), line: colour("--line"), grid: colour("--grid"),
      paper: colour("--paper"), font: getComputedStyle(document.body).fontFamily,
    };
  }

  // A tooltip made of text nodes: one line an entry, the first one bold.
  function tip(lines) {
    const box = document.createElement("div");
    box.className = "tip";
    lines.forEach((line, number) => {
      const row = document.createElement(number === 0 ? "b" : "div");
      row.textContent = line;
      box.append(row);
    });
    return box;
  }

  function common(t) {
    return {
      animation: false,
      textStyle: { fontFamily: t.font, color: t.ink, fontSize: 12 },
      tooltip: {
        backgroundColor: t.paper, borderColor: t.line, borderWidth: 1, padding: [6, 10],
        extraCssText: "box-shadow: 0 2px 8px rgba(0,0,0,.18); z-index: 5", confine: true,
        textStyle: { color: t.ink, fontSize: 12 },
      },
      grid: { left: 8, right: 24, top: 12, bottom: 36, containLabel: true },
    };
  }

  function axis(t, more) {
    return {
      axisLine: { lineStyle: { color: t.line } },
      axisTick: { show: false },
      axisLabel: { color: t.quiet, fontSize: 12, hideOverlap: true, ...(more.axisLabel || {}) },
      splitLine: { lineStyle: { color: t.grid } },
      nameTextStyle: { color: t.quiet, fontSize: 12 },
      nameLocation: "middle",
      ...Object.fromEntries(Object.entries(more).filter(([key]) => key !== "axisLabel")),
    };
  }

  function draw(element) {
    const entry = drawn.get(element);
    const isPrint = matchMedia("print").matches;
    const width = isPrint ? Math.min(element.clientWidth || PRINT_WIDTH, PRINT_WIDTH) : element.clientWidth;
    if (width === 0) return; // hidden
    if (entry.chart) entry.chart.dispose();
    const { option, height } = entry.build(theme(), width);
    element.style.height = `${height}px`;
    entry.width = element.clientWidth;
    entry.chart = echarts.init(element, null, { renderer: "svg", width, height });
    entry.chart.setOption(option);
    const svg = element.querySelector("svg");
    if (svg) svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  }

  const widths = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const entry = drawn.get(target);
      if (entry && target.clientWidth !== entry.width) draw(target);
    }
  });

  for (const query of ["(prefers-color-scheme: dark)", "print"])
    matchMedia(query).addEventListener("change", () => {
      for (const element of drawn.keys()) if (element.isConnected) draw(element);
    });

  // Draws into `element` what build(theme, width) says: {option, height}.
  function show(element, label, build) {
    if (!element.isConnected) return; // something else was drawn in the meantime
    element.classList.add("chart");
    element.setAttribute("role", "img");
    element.setAttribute("aria-label", label);
    drawn.set(element, { build });
    widths.observe(element);
    draw(element);
  }

  // To be called before the charts below `root` are removed.
  function forget(root) {
    for (const [element, entry] of drawn)
      if (root.contains(element)) {
        if (entry.chart) entry.chart.dispose();
        widths.unobserve(element);
        drawn.delete(element);
      }
  }

  // The end of an axis of shares.
  const roundUp = (share) => [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8].find((end) => share <= end) || 1;

  // ---- intervals: a row a number, a dot with its error bar for each series ----

  const hasInterval = (point) => point.low !== undefined && point.high !== undefined;

  function errorBar(api, coordinates, t, color, shift, asBar) {
    const [value, row, low, high] = [0, 1, 2, 3].map((at) => api.value(at));
    const at = (x) => [api.coord([x, row])[0], api.coord([x, row])[1] + shift];
    const children = [];
    const middle = at(value);
    if (asBar) {
      const zero = at(0);
      children.push({
        type: "rect",
        shape: { x: zero[0], y: middle[1] - asBar / 2, width: Math.max(0, middle[0] - zero[0]), height: asBar },
        style: { fill: color, opacity: 0.85 },
      });
    }
    if (!Number.isNaN(low)) {
      const from = at(low), to = at(high);
      const stroke = { stroke: asBar ? t.ink : color, lineWidth: asBar ? 1.2 : 1.8, fill: null };
      const line = (x1, y1, x2, y2) => ({ type: "line", shape: { x1, y1, x2, y2 }, style: stroke });
      children.push(line(from[0], from[1], to[0], to[1]));
      for (const end of [from, to]) children.push(line(end[0], end[1] - 3.5, end[0], end[1] + 3.5));
    }
    if (!asBar)
      children.push({
        type: "circle", shape: { cx: middle[0], cy: middle[1], r: 4 },
        style: { fill: color, stroke: t.paper, lineWidth: 1 },
      });
    return { type: "group", children };
  }

  // spec: {rows: [label], series: [{name, color, points: [{value, low, high, lines} | null]}],
  // format, name, min, max, isShare, zero, bars}
  function intervals(spec) {
    return (t, width) => {
      const rowHeight = Math.max(spec.bars ? 24 : 22, 13 * spec.series.length + 9);
      const step = spec.series.length > 1 ? 13 : 0;
      const end = Math.max(...spec.series.flatMap((series) => series.points).map((p) => p ? p.high || p.value : 0));
      const longest = Math.max(...spec.rows.map((row) => row.length));
      const option = {
        ...common(t),
        xAxis: axis(t, {
          type: "value", min: spec.min, max: spec.isShare ? roundUp(end) : spec.max, name: spec.name, nameGap: 26,
          axisLabel: { formatter: spec.format },
          splitNumber: width < 500 ? 5 : 8,
        }),
        yAxis: axis(t, {
          type: "category", data: spec.rows, inverse: true, splitLine: { show: false },
          axisLabel: {
            color: t.ink, interval: 0, width: Math.min(width * 0.38, longest * 8 + 16), overflow: "truncate",
          },
        }),
        series: spec.series.map((series, number) => ({
          type: "custom",
          name: series.name,
          encode: { x: [0, 2, 3], y: 1 }, // the axis reaches over the intervals
          data: series.points.flatMap((point, row) => {
            const numbers = point && [point.value, row, hasInterval(point) ? point.low : NaN,
              hasInterval(point) ? point.high : NaN];
            return point ? [{ value: numbers, lines: point.lines }] : [];
          }),
          renderItem: (params, api) =>
            errorBar(api, params, t, run(series.color), step * (number - (spec.series.length - 1) / 2),
              spec.bars ? (spec.series.length > 1 ? 10 : 14) : 0),
          markLine: number > 0 || spec.zero === undefined ? undefined : {
            silent: true, symbol: "none", label: { show: false },
            lineStyle: { color: t.quiet, type: "solid", width: 1 }, data: [{ xAxis: spec.zero }],
          },
        })),
      };
      option.tooltip.formatter = (item) => tip(item.data.lines || []);
      return { option, height: spec.rows.length * rowHeight + 62 };
    };
  }

  // ---- curves with bands over a logarithmic axis ----

  // 2×, 1/2×
  const ratio = (value) =>
    value >= 1 || value <= 0 ? `${Number(value.toPrecision(3))}×` : `1/${Number((1 / value).toPrecision(3))}×`;

  function band(points, fill) {
    return {
      type: "custom", silent: true, z: 1, tooltip: { show: false },
      data: [[points[0].x, points[0].low]],
      renderItem: (params, api) => ({
        type: "polygon",
        shape: {
          points: [...points.map((p) => api.coord([p.x, p.high])),
            ...points.map((p) => api.coord([p.x, p.low])).reverse()],
        },
        style: { fill, opacity: 0.16 },
      }),
    };
  }

  // spec: {series: [{name, color, dashed, points: [{x, value, low, high}]}], percent, name}
  function curves(spec) {
    return (t, width) => {
      const all = spec.series.flatMap((series) => series.points);
      const option = {
        ...common(t),
        xAxis: axis(t, {
          type: "log", logBase: 2, min: Math.min(...all.map((p) => p.x)), max: Math.max(...all.map((p) => p.x)),
          name: "threshold p: times as fast as the reference", nameGap: 26, axisLabel: { formatter: ratio },
        }),
        yAxis: axis(t, {
          type: "value", min: 0, max: roundUp(Math.max(...all.map((p) => p.high || p.value))),
          axisLabel: { formatter: spec.percent }, name: spec.name, nameGap: width < 500 ? 40 : 44, splitNumber: 5,
        }),
        series: spec.series.flatMap((series, number) => {
          const line = {
            type: "line", name: series.name, showSymbol: false, symbolSize: 5, z: 3, zlevel: 0,
            data: series.points.map((p) => ({ value: [p.x, p.value], point: p })),
            lineStyle: { color: run(series.color), width: 2, type: series.dashed ? "dashed" : "solid" },
            itemStyle: { color: run(series.color) },
            markLine: number > 0 ? undefined : {
              silent: true, symbol: "none", data: [{ xAxis: 1 }],
              lineStyle: { color: t.quiet, type: "dashed", width: 1 },
              label: { formatter: "as fast", color: t.quiet, fontSize: 11, position: "end", distance: 3 },
            },
          };
          const hasBand = series.points.length > 0 && hasInterval(series.points[0]);
          return hasBand ? [band(series.points, run(series.color)), line] : [line];
        }),
      };
      option.grid.left = 22;
      option.grid.top = 24;
      option.tooltip.trigger = "axis";
      option.tooltip.axisPointer = { lineStyle: { color: t.quiet } };
      option.tooltip.formatter = (items) => tip(spec.lines(items.filter((item) => item.data.point)
        .map((item) => ({ name: item.seriesName, ...item.data.point }))));
      return { option, height: width < 500 ? 280 : 340 };
    };
  }

  // ---- bars of a funnel ----

  // spec: {stages: [{name, count, label, lines}], color}
  function funnel(spec) {
    return (t) => {
      const option = {
        ...common(t),
        grid: { left: 8, right: 8, top: 4, bottom: 4, containLabel: true },
        xAxis: { type: "value", show: false, min: 0, max: Math.max(1, spec.stages[0].count) },
        // Names on the left; on the right, behind the track, numbers in one column.
        yAxis: ["left", "right"].map((position) => axis(t, {
          type: "category", inverse: true, position,
          data: spec.stages.map((stage) => position === "left" ? stage.name : stage.label),
          axisLine: { show: false }, axisLabel: { color: t.ink, interval: 0 },
        })),
        series: [{
          type: "bar", barWidth: 20, itemStyle: { color: run(spec.color) },
          showBackground: true, backgroundStyle: { color: t.grid },
          data: spec.stages.map((stage) => ({ value: stage.count, lines: stage.lines })),
        }],
      };
      option.tooltip.formatter = (item) => tip(item.data.lines);
      return { option, height: spec.stages.length * 34 + 10 };
    };
  }

  // ---- points over two logarithmic axes, with lines at 1 ----

  // spec: {series: [{name, color, points: [{x, y, lines}]}], xName, percent}
  function scatter(spec) {
    return (t, width) => {
      const option = {
        ...common(t),
        xAxis: axis(t, { type: "log", name: spec.xName, nameGap: 26, axisLabel: { formatter: spec.percent } }),
        yAxis: axis(t, {
          type: "log", logBase: 2, name: "speed-up over the reference", nameGap: 44, axisLabel: { formatter: ratio },
        }),
        series: spec.series.map((series, number) => ({
          type: "scatter", name: series.name, symbolSize: 6, large: false,
          itemStyle: { color: run(series.color), opacity: 0.6 },
          data: series.points.map((p) => ({ value: [p.x, p.y], lines: p.lines })),
          markLine: number > 0 ? undefined : {
            silent: true, symbol: "none", label: { show: false }, data: [{ yAxis: 1 }, { xAxis: 1 }],
            lineStyle: { color: t.quiet, type: "dashed", width: 1 },
          },
        })),
      };
      option.grid.left = 22;
      option.tooltip.formatter = (item) => tip(item.data.lines || []);
      return { option, height: width < 500 ? 300 : 380 };
    };
  }

  return { show, forget, intervals, curves, funnel, scatter, ratio };
})();
