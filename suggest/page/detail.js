// The selected pair: what is known of it, and what can be done about it.
"use strict";

class Detail {
  constructor(model, actions) {
    this.model = model;
    this.actions = actions;
  }

  draw(row) {
    const { model } = this, frame = $("detail");
    if (!row) return frame.replaceChildren(element("p", { text: "Nothing is selected." }));
    if (row.side === "bench") return frame.replaceChildren(...this.benchDetail(row));
    const node = row.node, place = model.landing.nodes[node], status = model.status[node];
    const count = model.times(row), rule = model.rules[model.landing.rules[node]];
    const why = model.why.get(node);
    const by = rule ? `by the rule ${rule.section}: ${rule.key} → ${rule.target}` : "by its name, without a rule";
    frame.replaceChildren(
      element("h2", {}, element("span", { text: engine.pathOf(model.npu, node) }), element("span", { class: "arrow", text: " → " }),
        element("span", { text: place > 0 ? engine.pathOf(model.bench, place) : "no counterpart" })),
      element("p", { class: `state ${status}` }, element("b", { text: SAID[status] }), why ? `: ${why()}` : "",
        element("span", { class: "by", text: `${place > 0 || rule ? by : ""}${count > 1 ? `; ${count} alike` : ""}` })),
      this.buttons(row), this.candidateList(row), this.evidenceBars(node), this.facts(node, place));
  }

  benchDetail(row) {
    const { model } = this;
    return [
      element("h2", { text: engine.pathOf(model.bench, row.node) }),
      element("p", { class: "state bench" }, element("b", { text: "bench module without counterpart" }),
        element("span", { class: "by", text: "select an NPU module and link it here: drag it, or press r and click" })),
      this.facts(-1, row.node),
    ];
  }

  buttons(row) {
    const place = this.model.hit[row.node], { actions } = this;
    const button = (key, label, action, disabled = false) =>
      element("button", { type: "button", id: `do-${label.toLowerCase()}`, disabled, on: { click: action } },
        label, element("kbd", { text: key, "aria-hidden": "true" }));
    return element("div", { class: "buttons" },
      button("a", "Accept", () => actions.accept(row)),
      button("x", "Reject", () => actions.reject(row), place < 0),
      button("r", "Rewire", () => actions.pick(row)),
      element("label", {}, element("input", { type: "checkbox", id: "here", checked: actions.here(),
        on: { change: (event) => actions.setHere(event.target.checked) } }), "only here", element("kbd", { text: "o", "aria-hidden": "true" })));
  }

  candidateList(row) {
    const { model } = this;
    const list = element("ol", { class: "candidates", "aria-label": "Other counterparts" });
    model.candidates(row.node).forEach(([place, why], at) => list.append(this.candidate(row, place, why, at + 1)));
    const results = element("ol", { class: "candidates", "aria-label": "Found counterparts" });
    const search = element("input", { type: "search", id: "pick", placeholder: "another counterpart: search the bench side",
      "aria-label": "Search for another counterpart", on: { input: (event) => {
        results.replaceChildren(...model.searchBench(event.target.value).map((place) => this.candidate(row, place, "", 0)));
      }, keydown: (event) => {
        const first = model.searchBench(event.target.value)[0];
        if (event.key === "Enter" && first !== undefined) this.actions.link(row, first);
        if (event.key === "Escape") $("rows").focus();
      } } });
    return element("div", {}, element("h3", { text: "Other counterparts" }), list, search, results);
  }

  candidate(row, place, why, number) {
    const { model } = this, kind = engine.kindOf(model.bench, place), owner = model.owner[place];
    const path = engine.pathOf(model.bench, place), home = model.landing.scopes[model.npu.parents[row.node]];
    const near = engine.below(home, path);
    const effect = element("span", { class: "effect" });
    const preview = () => {
      if (effect.textContent) return;
      const { nodes, lost } = model.preview(this.actions.decisionFor(row, place));
      effect.textContent = `changes ${nodes.length} node${nodes.length === 1 ? "" : "s"}` + (lost ? `, ${lost === 1 ? "1 loses its own" : `${lost} lose theirs`}` : "");
    };
    const taken = owner > 0 ? `of ${model.npu.names[owner]}` : "free";
    return element("li", {}, element("button", { type: "button", title: path, on: {
      click: () => this.actions.link(row, place), pointerenter: preview, focus: preview,
    } }, number ? element("kbd", { text: String(number), "aria-hidden": "true" }) : null,
    element("span", { class: "name", text: near || path }),
    element("span", { class: "cls", text: [kind.cls, kind.params[0] || "", taken, why].filter((part) => part).join(" · ") }), effect));
  }

  evidenceBars(node) {
    const found = this.model.evidence(node), best = this.model.chosen[node];
    if (!found || best < 0) return element("p", { class: "by", text: "No evidence: the matcher found no counterpart." });
    const bars = element("dl", { class: "bars" });
    const add = (label, value) => {
      if (value === null) return;
      const bar = element("span", { class: "bar", "aria-hidden": "true" }, element("i"));
      bar.firstChild.style.width = `${Math.round(100 * Math.max(0, Math.min(1, value)))}%`;
      bars.append(element("dt", { text: label }), element("dd", {}, bar, element("span", { text: value.toFixed(2) })));
    };
    add("confidence", found.confidence);
    for (const [label, key] of [["name", "name"], ["class", "cls"], ["shape", "shape"], ["parent", "parent"], ["inside", "children"]])
      add(label, found[key]);
    const rival = this.model.second[node];
    if (rival > 0) add(`runner-up ${this.model.bench.names[rival]}`, found.rival);
    const of = best === this.model.hit[node] ? "Evidence" : `Evidence for ${engine.pathOf(this.model.bench, best)}`;
    return element("div", {}, element("h3", { text: of }), bars, found.note ? element("p", { class: "by", text: found.note }) : null);
  }

  facts(node, place) {
    const { model } = this;
    const side = (scopes, data, at) => {
      if (at <= 0) return ["–"];
      const kind = engine.kindOf(scopes, at), figures = data.figures[at];
      const cut = !figures && data.figuresCut ? ["statistics: see the first layer of this kind"] : [];
      return [kind.cls || "–", ...(kind.params.length ? kind.params : ["no parameters of its own"]), ...cut,
        ...(figures ? [...figures[0].map((text) => "in " + text), ...figures[1].map((text) => "out " + text)] : [])];
    };
    const cell = (texts) => element("td", {}, ...texts.map((text) => element("div", { text })));
    return element("table", { class: "facts" },
      element("caption", { text: "Shapes and statistics (max, min, mean, norm)" }),
      element("thead", {}, element("tr", {}, element("th", { scope: "col", text: "NPU" }), element("th", { scope: "col", text: "bench" }))),
      element("tbody", {}, element("tr", {}, cell(side(model.npu, model.data.npu, node)), cell(side(model.bench, model.data.bench, place)))));
  }
}
