// SPDX-License-Identifier: Apache-2.0
//
// The page as a whole: its head, and what is drawn when a run is chosen.
"use strict";

(() => {
  const { data, runs, shown } = page.given;
  const { find, h, title } = page.pieces;

  function showHead() {
    const names = runs.map((run) => run.name);
    const heading = names.length > 3 ? [title(`${names.length} runs`)] : names.map(title);
    const withCommas = heading.flatMap((name, at) => (at > 0 ? [", ", name] : [name]));
    find("#title").replaceChildren(...withCommas);
    document.title = `pkbench: ${names.slice(0, 3).join(", ")}`;
    find("footer").textContent =
      `Made by pkbench ${data.pkbench}. Everything in this page is in this file; ` +
      "links lead to files in the folders of the runs.";
  }

  function showSwitch() {
    const select = find("#run");
    select.append(...runs.map((run) => h("option", { value: run.number }, run.name)));
    select.addEventListener("change", () => showRun(runs[Number(select.value)]));
    find("#switch").hidden = runs.length < 2;
  }

  // Device, ranks, machine; a mixed score has several of each.
  function subtitle({ device, world, machine }) {
    const say = (value) => (Array.isArray(value) ? value.join(" / ") : value);
    const parts = [];
    if (device) parts.push(`device ${say(device)}`);
    if (world) parts.push(`${say(world)} ranks`);
    if (machine) parts.push(say(machine));
    return parts.join(" · ");
  }

  function showRun(run) {
    shown.run = run.number;
    find("#subtitle").replaceChildren(page.pieces.text(subtitle(run.score.conditions)));
    page.marks.show(run.score);
    page.overview.show();
    page.summary.show(run);
    page.thresholds.show();
    page.groups.show(run);
    page.funnel.show(run);
    page.problems.show(run);
    page.attempts.show(run);
    page.environment.show(run);
    document.body.dataset.run = run.name;
  }

  showHead();
  showSwitch();
  page.compare.show();
  page.floor.show();
  showRun(runs[0]);
})();
