// SPDX-License-Identifier: Apache-2.0
//
// What all charts of a report share. ECharts draws them as SVG, and anew for another width, another
// colour scheme and for print. Texts reach the page as text nodes only.
"use strict";

page.charts = (() => {
  const PRINT_WIDTH = 680;
  const FONT = 12; // pixels
  const SHARES = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8];
  const drawn = new Map(); // element -> {build, chart, width}

  // ---- when and where ----

  function widthFor(element) {
    const width = element.clientWidth;
    return matchMedia("print").matches ? Math.min(width || PRINT_WIDTH, PRINT_WIDTH) : width;
  }

  function draw(element) {
    const entry = drawn.get(element);
    const width = widthFor(element);
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

  function drawAll() {
    for (const element of drawn.keys()) if (element.isConnected) draw(element);
  }

  for (const query of ["(prefers-color-scheme: dark)", "print"])
    matchMedia(query).addEventListener("change", drawAll);

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

  function forgetOne(element) {
    const { chart } = drawn.get(element);
    if (chart) chart.dispose();
    widths.unobserve(element);
    drawn.delete(element);
  }

  // To be called before the charts below `root` are removed.
  function forget(root) {
    for (const element of Array.from(drawn.keys())) if (root.contains(element)) forgetOne(element);
  }

  // ---- colours ----

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const colourOfRun = (number) => colour(`--run-${number % 8}`);

  function theme() {
    const font = getComputedStyle(document.body).fontFamily;
    const names = ["ink", "quiet", "line", "grid", "paper"];
    return { font, ...Object.fromEntries(names.map((name) => [name, colour(`--${name}`)])) };
  }

  // ---- parts of an option ----

  function common(t) {
    return {
      animation: false,
      textStyle: { fontFamily: t.font, color: t.ink, fontSize: FONT },
      tooltip: {
        backgroundColor: t.paper,
        borderColor: t.line,
        borderWidth: 1,
        padding: [6, 10],
        extraCssText: "box-shadow: 0 2px 8px rgba(0,0,0,.18); z-index: 5",
        confine: true,
        textStyle: { color: t.ink, fontSize: FONT },
      },
      grid: { left: 8, right: 24, top: 12, bottom: 36, containLabel: true },
    };
  }

  function axis(t, { axisLabel, ...more }) {
    return {
      axisLine: { lineStyle: { color: t.line } },
      axisTick: { show: false },
      axisLabel: { color: t.quiet, fontSize: FONT, hideOverlap: true, ...axisLabel },
      splitLine: { lineStyle: { color: t.grid } },
      nameTextStyle: { color: t.quiet, fontSize: FONT },
      nameLocation: "middle",
      ...more,
    };
  }

  // Lines across a chart, at places such as {xAxis: 1}.
  function rule(t, places, more = {}) {
    return {
      silent: true,
      symbol: "none",
      label: { show: false },
      lineStyle: { color: t.quiet, type: "dashed", width: 1 },
      data: places,
      ...more,
    };
  }

  // A tooltip made of text nodes: one line an entry, the first one bold.
  function tip(lines = []) {
    const box = document.createElement("div");
    box.className = "tip";
    lines.forEach((line, number) => {
      const row = document.createElement(number === 0 ? "b" : "div");
      row.textContent = line;
      box.append(row);
    });
    return box;
  }

  const tipOfItem = (item) => tip(item.data.lines);

  // The end of an axis of shares.
  const roundUp = (share) => SHARES.find((end) => share <= end) || 1;

  return { show, forget, colourOfRun, common, axis, rule, tip, tipOfItem, roundUp };
})();
