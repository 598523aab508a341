// Draws both trees and the rules. Of the rows, only those in sight exist.
"use strict";

const ROW = 26, SPARE = 8;
const MARKS = { sure: "✓", review: "?", one: "–", clash: "!", free: "", bench: "–" };

class View {
  constructor(model, actions) {
    this.model = model;
    this.actions = actions;
    this.detail = new Detail(model, actions);
    this.rows = [];
    this.selected = null;
    this.flash = new Set();
    this.places = new Map();
    this.drawn = new Map();
    $("rows").addEventListener("scroll", () => this.scrolled());
    new ResizeObserver(() => this.scrolled()).observe($("rows"));
  }

  // ---- the two trees

  refresh() {
    this.model.sift();
    this.rows = this.model.rows();
    const at = this.selected ? this.rows.findIndex((row) => row.key === this.selected.key) : -1;
    this.selected = at >= 0 ? this.rows[at] : this.enclosing() || this.rows[0] || null;
    this.drawRows();
    this.detail.draw(this.selected);
    this.drawRules();
    this.drawCounts();
  }

  /** The row that now holds the selected node, if it was folded into another. */
  enclosing() {
    if (!this.selected) return null;
    const { side, node } = this.selected;
    return this.rows.find((row) => row.side === side && row.nodes.includes(node)) || null;
  }

  drawRows() {
    this.drawn = new Map();
    $("space").replaceChildren();
    $("space").style.height = `${this.rows.length * ROW}px`;
    $("rows").setAttribute("aria-rowcount", this.rows.length);
    $("nothing").hidden = this.rows.length > 0;
    this.scrolled();
  }

  /** Rows that came into sight are drawn, those that left it removed; the rest stays, so that a drag survives. */
  scrolled() {
    const frame = $("rows");
    const first = Math.max(0, Math.floor(frame.scrollTop / ROW) - SPARE);
    const last = Math.min(this.rows.length, Math.ceil((frame.scrollTop + frame.clientHeight) / ROW) + SPARE);
    for (const [at, row] of this.drawn)
      if ((at < first || at >= last) && this.rows[at] !== this.dragged) {
        row.remove();
        this.drawn.delete(at);
      }
    for (let at = first; at < last; at++)
      if (!this.drawn.has(at)) {
        this.drawn.set(at, this.drawRow(this.rows[at], at));
        $("space").append(this.drawn.get(at));
      }
    const at = this.rows.indexOf(this.selected);
    if (this.drawn.has(at)) frame.setAttribute("aria-activedescendant", `row${at}`);
    else frame.removeAttribute("aria-activedescendant");
  }

  drawRow(row, at) {
    const { model } = this;
    const status = row.side === "bench" ? "bench" : model.status[row.node];
    const below = model.hasBelow(row);
    const place = row.side === "npu" ? model.landing.nodes[row.node] : row.node;
    const isHit = row.side === "bench" || place > 0;
    const said = `${this.title(row)}: ${SAID[status]}`;
    const found = element("div", {
      role: "row", id: `row${at}`, class: `row ${status}${row === this.selected ? " selected" : ""}` +
        (row.side === "npu" && row.nodes.some((node) => this.flash.has(node)) ? " flash" : ""),
      "aria-level": row.depth + 1, "aria-rowindex": at + 1, "aria-selected": String(row === this.selected),
      "aria-expanded": below ? String(model.isOpen(row)) : null, "aria-label": said,
    });
    found.style.top = `${at * ROW}px`;
    const left = element("span", { role: "gridcell", class: "npu", draggable: row.side === "npu" ? "true" : null });
    left.style.paddingLeft = `${row.depth * 14 + 4}px`;
    const right = element("span", { role: "gridcell", class: "bench" });
    (row.side === "npu" ? left : right).append(element("span", {
      class: "twisty", text: below ? (model.isOpen(row) ? "▾" : "▸") : "", "aria-hidden": "true",
    }));
    if (row.side === "npu") this.label(left, model.npu, row, model.kind(row.node));
    if (isHit && place > 0) {
      right.style.paddingLeft = `${Math.min(row.depth, 12) * 14 + (row.side === "npu" ? 18 : 4)}px`;
      this.label(right, model.bench, row, engine.kindOf(model.bench, place), place, this.fromAbove(row, place));
    } else if (row.side === "npu" && status === "review") {
      right.append(element("span", { class: "hint", text: "counterpart missing" }));
    }
    right.dataset.place = isHit && place > 0 ? place : "";
    const mark = element("span", { role: "gridcell", class: "mark", title: SAID[status] },
      element("b", { text: MARKS[status], "aria-hidden": "true" }));
    found.append(left, mark, right);
    found.addEventListener("click", (event) => this.actions.click(row, event));
    if (row.side === "npu") this.drag(left, row);
    if (isHit && place > 0) this.drop(right, place);
    return found;
  }

  /** What stands before a bench module's name: the steps below the counterpart of the nearest row above that has one. */
  fromAbove(row, place) {
    const { model } = this;
    if (row.side === "bench") return "";
    let outer = row.parent;
    while (outer && outer.node && model.landing.nodes[outer.node] < 0) outer = outer.parent;
    const home = outer ? engine.pathOf(model.bench, Math.max(0, model.landing.nodes[outer.node])) : "";
    const path = engine.pathOf(model.bench, place);
    const rest = engine.below(home, path) ?? path;
    return rest.slice(0, rest.length - model.bench.names[place].length);
  }

  label(cell, scopes, row, kind, place = row.node, prefix = "") {
    const path = engine.pathOf(scopes, place);
    let name = prefix + scopes.names[place];
    if (row.nodes.length > 1) {
      const last = row.nodes[row.nodes.length - 1];
      const end = scopes === this.model.npu || row.side === "bench" ? last : this.model.landing.nodes[last];
      name += "–" + scopes.names[end];
    }
    cell.append(element("span", { class: "name", text: name, title: path }));
    if (row.nodes.length > 1) cell.append(element("span", { class: "times", text: `×${row.nodes.length}` }));
    cell.append(element("span", { class: "cls", text: kind.cls || (kind.states[0] ? "API" : "") }));
  }

  title(row) {
    if (row.side === "bench") return `bench ${engine.pathOf(this.model.bench, row.node)}`;
    const place = this.model.landing.nodes[row.node];
    return engine.pathOf(this.model.npu, row.node) + (place > 0 ? ` and ${engine.pathOf(this.model.bench, place)}` : "");
  }

  drag(cell, row) {
    cell.addEventListener("dragstart", (event) => {
      this.dragged = row;
      event.dataTransfer.setData("text/plain", engine.pathOf(this.model.npu, row.node));
      event.dataTransfer.effectAllowed = "link";
    });
    cell.addEventListener("dragend", () => { this.dragged = null; });
  }

  drop(cell, place) {
    cell.addEventListener("dragover", (event) => {
      if (!this.dragged) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = "link";
      cell.classList.add("over");
    });
    cell.addEventListener("dragleave", () => cell.classList.remove("over"));
    cell.addEventListener("drop", (event) => {
      event.preventDefault();
      const row = this.dragged;
      this.dragged = null;
      if (row) this.actions.link(row, place);
    });
  }

  select(row, { scroll = true } = {}) {
    this.selected = row;
    const at = this.rows.indexOf(row), frame = $("rows");
    if (scroll && at >= 0) {
      if (at * ROW < frame.scrollTop) frame.scrollTop = at * ROW;
      else if ((at + 1) * ROW > frame.scrollTop + frame.clientHeight) frame.scrollTop = (at + 1) * ROW - frame.clientHeight;
    }
    this.drawRows();
    this.detail.draw(this.selected);
    this.drawRules();
  }

  // ---- the rules

  drawRules() {
    const { model } = this, row = this.selected;
    const deciding = row && row.side === "npu" ? model.rules[model.landing.rules[row.node]] : null;
    const list = $("lines");
    const first = new Map();
    model.landing.rules.forEach((rule, node) => { if (rule >= 0 && !first.has(rule)) first.set(rule, node); });
    const index = new Map(model.rules.map((rule, at) => [rule.line, at]));
    const before = new Set(model.first.map(engine.textOf));
    list.replaceChildren(...model.shownLines().map((line, at) => {
      const text = engine.textOf(line), rule = index.get(at);
      const marks = [line.kind, deciding && deciding.line === at ? "deciding" : "", line.kind === "text" || before.has(text) ? "" : "changed"];
      const node = rule === undefined ? undefined : first.get(rule);
      return element("li", { class: marks.filter((mark) => mark).join(" ") }, node === undefined
        ? element("span", { text: text || " " })
        : element("button", { type: "button", tabindex: "-1", text, title: "show the first module that this rule decides",
          on: { click: () => this.actions.show(node) } }));
    }));
    const current = list.querySelector(".deciding");
    if (current) current.scrollIntoView({ block: "nearest" });
  }

  drawCounts() {
    const { model } = this;
    const all = model.allRows();
    $("count-review").textContent = all.filter((row) => model.isDoubtful(row)).length;
    $("count-one").textContent = all.filter((row) => model.isOneSided(row)).length;
    $("count").textContent = `${model.matched} of ${model.data.npu.modules} matched, ${model.rules.length} rules`;
    $("undo").disabled = !model.past.length;
    for (const name of ["all", "review", "one"]) $(`show-${name}`).setAttribute("aria-pressed", String(model.filter === name));
    $("show-apis").setAttribute("aria-pressed", String(model.apis));
  }

  say(text, isError = false) {
    $("status").textContent = text;
    $("status").classList.toggle("error", isError);
  }
}
