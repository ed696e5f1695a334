// SPDX-License-Identifier: Apache-2.0
//
// Bars of a funnel: what came to each stage.
"use strict";

page.bars = (() => {
  const { axis, colourOfRun, common, tipOfItem } = page.charts;

  function yAxis(theme, position, labels) {
    return axis(theme, {
      type: "category",
      inverse: true,
      position,
      data: labels,
      axisLine: { show: false },
      axisLabel: { color: theme.ink, interval: 0 },
    });
  }

  function seriesOf(theme, spec) {
    return {
      type: "bar",
      barWidth: 20,
      itemStyle: { color: colourOfRun(spec.color) },
      showBackground: true,
      backgroundStyle: { color: theme.grid },
      data: spec.stages.map((stage) => ({ value: stage.count, lines: stage.lines })),
    };
  }

  // spec: {stages: [{name, count, label, lines}], color}
  function build(spec) {
    const names = spec.stages.map((stage) => stage.name);
    const labels = spec.stages.map((stage) => stage.label);
    return (theme) => {
      const option = {
        ...common(theme),
        grid: { left: 8, right: 8, top: 4, bottom: 4, containLabel: true },
        xAxis: { type: "value", show: false, min: 0, max: Math.max(1, spec.stages[0].count) },
        // Names on the left; on the right, behind the track, numbers in one column.
        yAxis: [yAxis(theme, "left", names), yAxis(theme, "right", labels)],
        series: [seriesOf(theme, spec)],
      };
      option.tooltip.formatter = tipOfItem;
      return { option, height: spec.stages.length * 34 + 10 };
    };
  }

  return { build };
})();
