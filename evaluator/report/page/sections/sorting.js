// SPDX-License-Identifier: Apache-2.0
//
// Tables that sort, and rows that open.
"use strict";

page.sorting = (() => {
  const { h, row, table, title } = page.pieces;

  const collator = new Intl.Collator("en", { numeric: true });

  // ---- rows that open ----

  const innerRow = (columns, parts) =>
    h("tr", { class: "inner" }, h("td", { colspan: columns }, ...parts));

  // A button in a row of so many columns. It opens another row below it, made when it is asked for.
  function opener(label, columns, details) {
    let inner = null;
    const onclick = () => {
      const opens = inner === null;
      button.setAttribute("aria-expanded", String(opens));
      if (opens) {
        inner = innerRow(columns, details());
        button.closest("tr").after(inner);
      } else {
        inner.remove();
        inner = null;
      }
    };
    const attributes = { type: "button", class: "open", "aria-expanded": "false" };
    const button = h("button", { ...attributes, onclick }, label);
    return button;
  }

  const nameOpener = (name, columns, details) => opener(title(name), columns, details);

  // ---- tables that sort ----

  function direction(column, at, state) {
    if (state.column !== at) return undefined;
    return state.isDown ? "descending" : "ascending";
  }

  // A column is {name, title?, isNumber, key(row) to sort by, cell(row)}.
  function headOf(column, at, state, redraw) {
    const onclick = () => {
      state.isDown = state.column === at ? !state.isDown : Boolean(column.isNumber);
      state.column = at;
      redraw();
    };
    const attributes = {
      scope: "col",
      class: column.isNumber ? "number" : undefined,
      "aria-sort": direction(column, at, state),
    };
    const button = h("button", { type: "button", title: column.title, onclick }, column.name);
    return h("th", attributes, button);
  }

  // Draws the table into `box` and gives a button in its head that was pressed its focus back.
  // `state` {column, isDown} is kept; redraw() is called when it changed.
  function draw(box, columns, rows, state, redraw) {
    const buttons = () => Array.from(box.querySelectorAll("thead th button"));
    const at = buttons().indexOf(document.activeElement);
    const heads = columns.map((column, number) => headOf(column, number, state, redraw));
    const cells = (one) => columns.map((column) => column.cell(one));
    box.replaceChildren(
      table(
        heads,
        rows.map((one) => row(cells(one))),
      ),
    );
    if (at >= 0) buttons()[at].focus();
  }

  // ---- order ----

  const isMissing = (key) => key === undefined || key === null || key === "";

  // What is not there comes last in both directions; ties stay in their order.
  function order(a, b, isDown) {
    if (isMissing(a.key) || isMissing(b.key)) return isMissing(a.key) - isMissing(b.key);
    const isNumber = typeof a.key === "number";
    const upward = isNumber ? a.key - b.key : collator.compare(a.key, b.key);
    return isDown ? -upward : upward;
  }

  function sorted(rows, column, isDown) {
    const keyed = rows.map((one) => ({ one, key: column.key(one) }));
    return keyed.toSorted((a, b) => order(a, b, isDown)).map(({ one }) => one);
  }

  return { opener, nameOpener, draw, sorted };
})();
