// SPDX-License-Identifier: Apache-2.0
//
// Pieces that a report is made of: elements, tables, figures, controls. Texts of records are
// hostile: they reach the page as text nodes only, never as markup.
"use strict";

page.pieces = (() => {
  const { interval, isThere, percent } = page.numbers;

  const find = (selector) => document.querySelector(selector);

  // ---- elements ----

  function setAttribute(element, key, value) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== undefined && value !== false) element.setAttribute(key, value);
  }

  const isShown = (child) => isThere(child) && child !== false;

  // h("td", {class: "number"}, "text", element): attributes, listeners (on...), children.
  function h(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) setAttribute(element, key, value);
    element.append(...children.flat().filter(isShown));
    return element;
  }

  // Puts new contents below the heading of a section.
  function fill(id, ...children) {
    const section = document.getElementById(id);
    page.charts.forget(section);
    for (const old of Array.from(section.children)) if (old.tagName !== "H2") old.remove();
    section.append(...children.flat().filter(Boolean));
    section.hidden = false;
  }

  // ---- words ----

  const text = (value) => h("span", { class: "text" }, value);
  const caption = (...words) => h("p", { class: "caption" }, ...words);
  const dash = () => h("span", { class: "quiet" }, "–"); // not known
  const empty = (...words) => h("p", { class: "empty" }, ...words);
  const mark = (name, words) => h("p", { class: "mark" }, h("b", {}, name), `: ${words}`);

  // A name, which may break behind what separates its words; numbers such as 0.7 stay whole.
  function title(name) {
    const parts = name.split(/(?<=[-_/:@]|\D\.|\.(?=\D))(?=[^-_./:@])/);
    return h(
      "span",
      { class: "text" },
      parts.flatMap((part, at) => (at > 0 ? [h("wbr", {}), part] : [part])),
    );
  }

  // ---- tables ----

  const head = (name) => h("th", { scope: "col" }, name);
  const numberHead = (name) => h("th", { scope: "col", class: "number" }, name);
  const rowHead = (...children) => h("th", { scope: "row" }, ...children);
  const row = (...cells) => h("tr", {}, ...cells);
  const cell = (...children) => h("td", {}, ...children);
  const nameCell = (...children) => h("td", { class: "name" }, ...children);
  const numberCell = (...children) => h("td", { class: "number" }, ...children);

  function table(heads, rows, attributes = {}) {
    const cells = heads.map((one) => (typeof one === "string" ? head(one) : one));
    const parts = [h("thead", {}, row(cells)), h("tbody", {}, rows)];
    return h("div", { class: "scroll" }, h("table", attributes, parts));
  }

  function bounds({ if_fail: low, if_pass: high }) {
    if (!isThere(low)) return null;
    const why = "if what has no verdict had failed, or passed";
    const range = h("span", { class: "whole" }, `${percent(low)}–${percent(high)}`);
    return h("small", { title: why }, "rest fail/pass ", range);
  }

  // A number of a score with its interval and bounds.
  function valueCell(value, format) {
    if (!value || !isThere(value.value)) return numberCell(dash());
    const range = h("small", {}, interval(value, format));
    return numberCell(format(value.value), range, bounds(value));
  }

  // ---- charts ----

  // The chart is drawn once it is in the page.
  function figure(label, build, words) {
    const chart = h("div", {});
    requestAnimationFrame(() => page.charts.show(chart, label, build));
    return h("figure", {}, chart, h("figcaption", {}, words));
  }

  function swatch(number) {
    const box = h("span", { class: "swatch" });
    box.style.background = `var(--run-${number % 8})`;
    return box;
  }

  function legend(series) {
    const items = series.map((one) => h("li", {}, swatch(one.color), title(one.name)));
    return h("ul", { class: "legend" }, items);
  }

  // ---- controls ----

  const controls = (...children) => h("div", { class: "controls" }, ...children);

  // A choice among few: radio buttons, which arrow keys move through.
  function choice(name, label, options, chosen, act) {
    const radio = (value) => {
      const onchange = () => act(value);
      return h("input", { type: "radio", name, value, checked: value === chosen, onchange });
    };
    const labels = options.map(([value, words]) => h("label", {}, radio(value), ` ${words}`));
    return controls(h("fieldset", {}, h("legend", {}, label), labels));
  }

  // A choice among many; options are [value, words].
  function menu(label, options, chosen, act) {
    const onchange = () => act(select.value);
    const select = h(
      "select",
      { onchange },
      options.map(([value, words]) => h("option", { value, selected: value === chosen }, words)),
    );
    return h("label", {}, `${label} `, select);
  }

  function searchBox(label, value, act) {
    const oninput = (event) => act(event.target.value);
    return h("label", {}, `${label} `, h("input", { type: "search", value, oninput }));
  }

  function button(label, attributes, onclick) {
    return h("button", { type: "button", class: "button", ...attributes, onclick }, label);
  }

  return {
    find,
    h,
    fill,
    text,
    caption,
    dash,
    empty,
    mark,
    title,
    numberHead,
    rowHead,
    row,
    cell,
    nameCell,
    numberCell,
    valueCell,
    table,
    figure,
    swatch,
    legend,
    controls,
    choice,
    menu,
    searchBox,
    button,
  };
})();
