// SPDX-License-Identifier: Apache-2.0
//
// The page as a whole: its head, its last section, and what is drawn when a run is chosen.
"use strict";

(() => {
  const { data, runs, shown } = given;
  const { find, h, fill, text, table, count } = pieces;
  const { marksOf, showRuns, showSummary, showCompare, showThresholds, showGroups, showFunnel, showFloor } = scores;
  const { showProblems, showAttempts } = tables;

  // ---- top ----

  function showTop() {
    const names = runs.map((run) => run.name);
    find("#title").replaceChildren(text(names.length <= 3 ? names.join(", ") : `${names.length} runs`));
    document.title = `pkbench: ${names.slice(0, 3).join(", ")}`;
    const select = find("#run");
    select.append(...runs.map((run) => h("option", { value: run.number }, run.name)));
    select.addEventListener("change", () => showRun(Number(select.value)));
    find("#switch").hidden = runs.length < 2;
    find("footer").textContent = `Made by pkbench ${data.pkbench}. Everything in this page is in this file; `
      + "links lead to files in the folders of the runs.";
  }

  function subtitle(run) {
    const c = run.score.conditions;
    const say = (value) => Array.isArray(value) ? value.join(" / ") : value;
    const parts = [];
    if (c.device) parts.push(`device ${say(c.device)}`);
    if (c.world) parts.push(`${say(c.world)} ranks`);
    if (c.machine) parts.push(say(c.machine));
    return parts.join(" · ");
  }

  // ---- environment ----

  const factText = new Map(Object.entries({
    device: "Device", world: "Ranks", sandbox: "Sandbox level", "machine.class": "Machine class", "versions.pkbench": "pkbench",
    "versions.protocol": "Protocol version", "versions.torch": "PyTorch", "versions.cuda": "CUDA compiler", "versions.nccl": "NCCL",
    "versions.gcc": "gcc", "versions.mpi": "Open MPI", "versions.python": "Python",
    "reference.torch": "Reference: PyTorch", "reference.threads": "Reference: threads", "reference.cuda": "Reference: CUDA",
    "reference.nccl": "Reference: NCCL", "reference.tf32": "Reference: TF32", "flags.sizes": "Sizes asked", "flags.timing": "Timing",
    "flags.timeout_s": "Time limit, seconds", "flags.seed": "Seed of the inputs", "flags.grid": "Grid", "flags.feedback": "Feedback level",
    "flags.policy": "Policy",
  }));

  function showEnvironment(run) {
    const { facts } = run.attempts;
    const score = run.score;
    const rows = facts.map(([name, values, rest]) => h("tr", {}, h("th", { scope: "row" }, factText.get(name) || h("span", { class: "mono text" }, name)),
      h("td", {}, values.flatMap((value, at) => [at > 0 ? ", " : "", text(value)]), rest > 0 ? ` and others (${count(rest)} records)` : "")));
    const hasSeed = facts.some(([name]) => name === "flags.seed");
    fill("environment", table(["What the records say", ""], rows, { class: "plain facts" }),
      h("h3", {}, "How these numbers were made"),
      h("ul", {},
        h("li", {}, "A verdict comes only from what the judge's own process observed: its clock, its reading of the outputs on every rank, the exit of a process. An attempt is CORRECT if it is right at every size asked."),
        h("li", {}, hasSeed ? "Inputs were drawn with the seed above." : "Inputs were drawn from a new secret in every session; each record keeps its own."),
        h("li", {}, `Intervals: 95 % percentile bootstrap over problems, ${count(score.bootstrap.rounds)} rounds, seed ${score.bootstrap.seed}.`),
        h("li", {}, `Planned attempts: ${score.planned_by === "plan" ? "as the plan says" : "at each problem as many as at the one that has most; nobody said how many"}. Programs counted as distinct by ${score.distinct_by === "program" ? "their code without comments and white space" : "their bytes"}.`),
        score.all.fast ? h("li", {}, "Speed-up of an attempt: geometric mean over its scored sizes (classes pkb and large) of the median ratio of paired batches, against PyTorch + NCCL run eagerly on the same machine in the same memory.") : null),
      score.notes.length > 0 ? [h("h3", {}, "Notes"), h("ul", {}, score.notes.map((note) => h("li", { class: "text" }, note)))].flat() : null);
  }

  // ---- the whole ----

  function showRun(number) {
    const run = runs[number];
    shown.run = number;
    find("#subtitle").replaceChildren(text(subtitle(run)));
    find("#marks").replaceChildren(...marksOf(run.score).map(([mark, words]) =>
      h("p", { class: "mark" }, h("b", {}, mark), ": ", words)));
    showRuns();
    showSummary(run);
    showThresholds();
    showGroups(run);
    showFunnel(run);
    showProblems(run);
    showAttempts(run);
    showEnvironment(run);
    document.body.dataset.run = run.name;
  }

  showTop();
  showCompare();
  showFloor();
  showRun(0);
})();
