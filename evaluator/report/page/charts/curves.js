// SPDX-License-Identifier: Apache-2.0
//
// Curves with bands over a logarithmic axis of thresholds.
"use strict";

page.curves = (() => {
  const { axis, colourOfRun, common, roundUp, rule, tip } = page.charts;
  const { axisPercent, hasInterval, ratio } = page.numbers;

  function band(points, fill) {
    const upper = points.map((point) => [point.x, point.high]);
    const lower = points.map((point) => [point.x, point.low]);
    const outline = [...upper, ...lower.toReversed()];
    return {
      type: "custom",
      silent: true,
      z: 1,
      tooltip: { show: false },
      data: [lower[0]],
      renderItem: (params, api) => ({
        type: "polygon",
        shape: { points: outline.map((place) => api.coord(place)) },
        style: { fill, opacity: 0.16 },
      }),
    };
  }

  // Where an attempt is as fast as the reference.
  function asFast(theme) {
    const label = { color: theme.quiet, fontSize: 11, position: "end", distance: 3 };
    return rule(theme, [{ xAxis: 1 }], { label: { formatter: "as fast", ...label } });
  }

  function line(theme, series, number) {
    const color = colourOfRun(series.color);
    return {
      type: "line",
      name: series.name,
      showSymbol: false,
      symbolSize: 5,
      z: 3,
      zlevel: 0,
      data: series.points.map((point) => ({ value: [point.x, point.value], point })),
      lineStyle: { color, width: 2, type: series.isDashed ? "dashed" : "solid" },
      itemStyle: { color },
      markLine: number === 0 ? asFast(theme) : undefined,
    };
  }

  function seriesOf(theme, series, number) {
    const one = line(theme, series, number);
    const hasBand = series.points.length > 0 && hasInterval(series.points[0]);
    return hasBand ? [band(series.points, colourOfRun(series.color)), one] : [one];
  }

  function xAxis(theme, points) {
    const places = points.map((point) => point.x);
    return axis(theme, {
      type: "log",
      logBase: 2,
      min: Math.min(...places),
      max: Math.max(...places),
      name: "threshold p: times as fast as the reference",
      nameGap: 26,
      axisLabel: { formatter: ratio },
    });
  }

  function yAxis(theme, width, points, name) {
    return axis(theme, {
      type: "value",
      min: 0,
      max: roundUp(Math.max(...points.map((point) => point.high || point.value))),
      axisLabel: { formatter: axisPercent },
      name,
      nameGap: width < 500 ? 40 : 44,
      splitNumber: 5,
    });
  }

  // What a pointer at a threshold shows: the points of all series there.
  function tipAt(items, lines) {
    const points = items.filter((item) => item.data.point);
    const named = ({ seriesName, data }) => ({ name: seriesName, ...data.point });
    return tip(lines(points.map(named)));
  }

  // spec: {series: [{name, color, isDashed, points: [{x, value, low, high}]}], name, lines}
  function build(spec) {
    const points = spec.series.flatMap((series) => series.points);
    return (theme, width) => {
      const option = {
        ...common(theme),
        xAxis: xAxis(theme, points),
        yAxis: yAxis(theme, width, points, spec.name),
        series: spec.series.flatMap((series, number) => seriesOf(theme, series, number)),
      };
      Object.assign(option.grid, { left: 22, top: 24 });
      option.tooltip.trigger = "axis";
      option.tooltip.axisPointer = { lineStyle: { color: theme.quiet } };
      option.tooltip.formatter = (items) => tipAt(items, spec.lines);
      return { option, height: width < 500 ? 280 : 340 };
    };
  }

  return { build };
})();
