// SPDX-License-Identifier: Apache-2.0
//
// What one run says of models, machine and protocol, and how its numbers were made.
"use strict";

page.environment = (() => {
  const { cell, fill, h, row, rowHead, table, text } = page.pieces;
  const { count } = page.numbers;

  const NAMES = new Map(
    Object.entries({
      models: "Models",
      device: "Device",
      world: "Ranks",
      sandbox: "Sandbox level",
      "machine.class": "Machine class",
      "versions.pkbench": "pkbench",
      "versions.protocol": "Protocol version",
      "versions.torch": "PyTorch",
      "versions.cuda": "CUDA compiler",
      "versions.nccl": "NCCL",
      "versions.gcc": "gcc",
      "versions.mpi": "Open MPI",
      "versions.python": "Python",
      "reference.torch": "Reference: PyTorch",
      "reference.threads": "Reference: threads",
      "reference.cuda": "Reference: CUDA",
      "reference.nccl": "Reference: NCCL",
      "reference.tf32": "Reference: TF32",
      "flags.sizes": "Sizes asked",
      "flags.timing": "Timing",
      "flags.timeout_s": "Time limit, seconds",
      "flags.seed": "Seed of the inputs",
      "flags.grid": "Grid",
      "flags.feedback": "Feedback level",
      "flags.policy": "Policy",
    }),
  );

  function factRow([name, values, rest]) {
    const head = NAMES.get(name) || h("span", { class: "mono text" }, name);
    const list = values.flatMap((value, at) => [at > 0 ? ", " : "", text(value)]);
    return row(rowHead(head), cell(list, rest > 0 ? ` and others (${count(rest)} records)` : ""));
  }

  // ---- how the numbers were made ----

  const VERDICTS =
    "A verdict comes only from what the judge's own process observed: its clock, its reading of " +
    "the outputs on every rank, the exit of a process. An attempt is CORRECT if it is right at " +
    "every size asked.";

  const SPEEDUPS =
    "Speed-up of an attempt: geometric mean over its scored sizes (classes pkb and large) of the " +
    "median ratio of paired batches, against PyTorch + NCCL run eagerly on the same machine in " +
    "the same memory.";

  function inputs(facts) {
    const hasSeed = facts.some(([name]) => name === "flags.seed");
    return hasSeed
      ? "Inputs were drawn with the seed above."
      : "Inputs were drawn from a new secret in every session; each record keeps its own.";
  }

  function intervals({ rounds, seed }) {
    const how = "95 % percentile bootstrap over problems";
    return `Intervals: ${how}, ${count(rounds)} rounds, seed ${seed}.`;
  }

  function plan({ planned_by: planned, distinct_by: distinct }) {
    const most = "at each problem as many as at the one that has most; nobody said how many";
    const code = "their code without comments and white space";
    return (
      `Planned attempts: ${planned === "plan" ? "as the plan says" : most}. Programs counted as ` +
      `distinct by ${distinct === "program" ? code : "their bytes"}.`
    );
  }

  function methods({ attempts: { facts }, score }) {
    const list = [VERDICTS, inputs(facts), intervals(score.bootstrap), plan(score)];
    if (score.all.fast) list.push(SPEEDUPS);
    return list.map((words) => h("li", {}, words));
  }

  function notesPart(notes) {
    if (notes.length === 0) return [];
    const items = notes.map((note) => h("li", { class: "text" }, note));
    return [h("h3", {}, "Notes"), h("ul", {}, items)];
  }

  function show(run) {
    const models = run.models.length > 0 ? [["models", run.models, 0]] : [];
    const rows = [...models, ...run.attempts.facts].map(factRow);
    fill(
      "environment",
      table(["What the run says", ""], rows, { class: "plain facts" }),
      h("h3", {}, "How these numbers were made"),
      h("ul", {}, methods(run)),
      notesPart(run.score.notes),
    );
  }

  return { show };
})();
