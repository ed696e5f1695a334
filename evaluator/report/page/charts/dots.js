// SPDX-License-Identifier: Apache-2.0
//
// Speed-ups as dots over two logarithmic axes, with lines at 1.
"use strict";

page.dots = (() => {
  const { axis, colourOfRun, common, rule, tipOfItem } = page.charts;
  const { axisPercent, ratio } = page.numbers;

  function xAxis(theme, name) {
    return axis(theme, {
      type: "log",
      name,
      nameGap: 26,
      axisLabel: { formatter: axisPercent },
    });
  }

  function yAxis(theme) {
    return axis(theme, {
      type: "log",
      logBase: 2,
      name: "speed-up over the reference",
      nameGap: 44,
      axisLabel: { formatter: ratio },
    });
  }

  function seriesOf(theme, series, number) {
    return {
      type: "scatter",
      name: series.name,
      symbolSize: 6,
      large: false,
      itemStyle: { color: colourOfRun(series.color), opacity: 0.6 },
      data: series.points.map((point) => ({ value: [point.x, point.y], lines: point.lines })),
      markLine: number === 0 ? rule(theme, [{ yAxis: 1 }, { xAxis: 1 }]) : undefined,
    };
  }

  // spec: {series: [{name, color, points: [{x, y, lines}]}], xName}
  function build(spec) {
    return (theme, width) => {
      const option = {
        ...common(theme),
        xAxis: xAxis(theme, spec.xName),
        yAxis: yAxis(theme),
        series: spec.series.map((series, number) => seriesOf(theme, series, number)),
      };
      option.grid.left = 22;
      option.tooltip.formatter = tipOfItem;
      return { option, height: width < 500 ? 300 : 380 };
    };
  }

  return { build };
})();
