// SPDX-License-Identifier: Apache-2.0
//
// Pieces that a report is made of: elements, tables, numbers as people read them. Texts of records
// are hostile: they reach the page as text nodes only, never as markup.
"use strict";

const pieces = (() => {
  // ---- pieces of the page ----

  const find = (selector) => document.querySelector(selector);

  // h("td", {class: "number"}, "text", element): attributes, listeners (on...), children.
  function h(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes || {}))
      if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else if (value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : value);
    element.append(...children.flat().filter((child) => child !== undefined && child !== null && child !== false));
    return element;
  }

  // Puts new contents below the heading of a section.
  function fill(id, ...children) {
    const section = document.getElementById(id);
    charts.forget(section);
    for (const old of [...section.children]) if (old.tagName !== "H2") old.remove();
    section.append(...children.flat().filter(Boolean));
    section.hidden = false;
  }

  // The chart is drawn once it is in the page.
  function figure(label, build, caption) {
    const chart = h("div");
    requestAnimationFrame(() => charts.show(chart, label, build));
    return h("figure", {}, chart, h("figcaption", {}, caption));
  }

  const text = (value) => h("span", { class: "text" }, value);
  const dash = () => h("span", { class: "quiet" }, "–"); // not known
  const empty = (...words) => h("p", { class: "empty" }, ...words);

  function table(head, rows, more) {
    return h("div", { class: "scroll" }, h("table", more || {},
      h("thead", {}, h("tr", {}, head.map((cell) => typeof cell === "string" ? h("th", { scope: "col" }, cell) : cell))),
      h("tbody", {}, rows)));
  }

  const numberHead = (name) => h("th", { scope: "col", class: "number" }, name);
  const numberCell = (...children) => h("td", { class: "number" }, ...children);
  const swatch = (number) => {
    const box = h("span", { class: "swatch" });
    box.style.background = `var(--run-${number % 8})`;
    return box;
  };

  function legend(series) {
    return h("ul", { class: "legend" }, series.map((one) => h("li", {}, swatch(one.color), text(one.name))));
  }

  // A choice among few: radio buttons, which arrow keys move through.
  function choice(name, label, options, chosen, act) {
    const box = h("fieldset", {}, h("legend", {}, label));
    for (const [value, title] of options)
      box.append(h("label", {}, h("input", {
        type: "radio", name, value, checked: value === chosen, onchange: () => act(value),
      }), ` ${title}`));
    return h("div", { class: "controls" }, box);
  }

  // ---- numbers ----

  const isThere = (value) => value !== undefined && value !== null;
  const count = (value) => value.toLocaleString("en-US").replaceAll(",", "\u202f");
  const plural = (value, word) => `${count(value)} ${word}${value === 1 ? "" : "s"}`;
  const percent = (value) => `${(100 * value).toFixed(1)} %`;
  const axisPercent = (value) => `${Number((100 * value).toPrecision(3))} %`;
  const times = (value) => `${value >= 100 ? value.toFixed(0) : value.toPrecision(3)}×`;
  const points = (value) => `${value > 0 ? "+" : value < 0 ? "−" : "±"}${Math.abs(100 * value).toFixed(1)}`;
  const hasInterval = (value) => isThere(value.low) && isThere(value.high);

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

  function valueCell(value, format) {
    if (!value || !isThere(value.value)) return numberCell(dash());
    const bounds = isThere(value.if_fail) && h("small", { title: "if what has no verdict had failed, or passed" },
      `rest fail/pass ${percent(value.if_fail)}–${percent(value.if_pass)}`);
    return numberCell(format(value.value), h("small", {}, interval(value, format)), bounds || null);
  }

  return {
    find, h, fill, figure, text, dash, empty, table, numberHead, numberCell, swatch, legend, choice,
    isThere, count, plural, percent, axisPercent, times, points, hasInterval, interval, duration,
    valueCell,
  };
})();
