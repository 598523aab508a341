// What a person does: keys, clicks, search, save.
"use strict";

function start() {
  const data = JSON.parse($("data").textContent);
  const model = new Model(data);
  let here = false, picking = null, saved = model.decisions, revision = data.serve ? data.serve.revision : null;

  const decisionFor = (row, place) => ({
    kind: place === null ? "reject" : "link",
    nodes: model.members(row).map((node) => engine.pathOf(model.npu, node)),
    target: place === null ? "" : engine.pathOf(model.bench, place),
    here,
  });

  const counted = (nodes) => (nodes.length === 1 ? "1 node" : `${nodes.length} nodes`);

  function report(what, { nodes, lost }) {
    view.flash = new Set(nodes);
    view.refresh();
    view.say(`${what}: changes ${counted(nodes)}${lost ? `, ${lost === 1 ? "1 loses its" : `${lost} lose their`} counterpart` : ""}`);
    setTimeout(() => { view.flash = new Set(); }, 1500);
    $("rows").focus({ preventScroll: true });
  }

  const decidable = (row) => row && row.side === "npu" && row.node > 0;

  const actions = {
    here: () => here,
    setHere: (value) => { here = value; view.detail.draw(view.selected); },
    decisionFor,
    accept(row) {
      if (!decidable(row)) return;
      const nodes = model.members(row);
      const decision = { kind: "accept", nodes: nodes.map((node) => engine.pathOf(model.npu, node)), target: "", here: false };
      report("accepted", model.decide(decision, nodes));
      view.say(`accepted ${model.npu.names[row.node]}: settles ${counted(nodes)}`);
    },
    reject(row) {
      if (!decidable(row) || model.hit[row.node] < 0) return;
      report(`rejected ${model.npu.names[row.node]}`, model.decide(decisionFor(row, null), model.members(row)));
    },
    link(row, place) {
      actions.unpick();
      if (!decidable(row)) return;
      const name = engine.pathOf(model.bench, place);
      view.selected = row;
      report(`${model.npu.names[row.node]} → ${name}`, model.decide(decisionFor(row, place), model.members(row)));
    },
    pick(row) {
      if (!decidable(row)) return;
      picking = row;
      document.body.classList.add("picking");
      $("pick").focus();
      view.say("click the counterpart on the bench side, or search for it; Escape ends this");
    },
    unpick() {
      picking = null;
      document.body.classList.remove("picking");
    },
    click(row, event) {
      const cell = event.target.closest(".bench");
      if (picking && cell && cell.dataset.place) return actions.link(picking, Number(cell.dataset.place));
      if (event.target.closest(".twisty") || (event.detail === 2 && !event.target.closest(".times"))) return toggle(row);
      if (event.target.closest(".times")) return each(row);
      return view.select(row);
    },
    show(node) {
      const row = model.rowOf("npu", node);
      if (row) jump(row);
    },
  };
  const view = new View(model, actions);

  function toggle(row) {
    if (!row || !model.hasBelow(row)) return;
    const set = model.open, shut = "shut " + row.key;
    if (model.isOpen(row)) { set.delete(row.key); set.add(shut); } else { set.add(row.key); set.delete(shut); }
    view.selected = row;
    view.refresh();
  }

  function each(row) {
    for (const node of row.nodes) {
      const key = row.side[0] + node;
      if (row.nodes.length > 1) model.split.add(key);
      else for (const other of [...model.split]) if (other[0] === key[0]) model.split.delete(other);
    }
    view.refresh();
  }

  function jump(row) {
    if (model.keep) {
      view.selected = null;
      setFilter("all", "");
    }
    model.reveal(row);
    view.refresh();
    const found = view.rows.find((item) => item.key === row.key);
    if (found) view.select(found);
  }

  function next(step) {
    const all = model.allRows();
    const at = view.selected ? all.findIndex((row) => row.key === view.selected.key) : -1;
    for (let turn = 1; turn <= all.length; turn++) {
      const row = all[(((at + step * turn) % all.length) + all.length) % all.length];
      if (model.isDoubtful(row)) return jump(row);
    }
    return view.say("nothing is left to review");
  }

  function move(step) {
    const at = view.rows.indexOf(view.selected);
    const row = view.rows[Math.max(0, Math.min(view.rows.length - 1, at + step))];
    if (row) view.select(row);
  }

  function setFilter(filter, query = $("search").value) {
    model.filter = filter;
    model.query = query;
    $("search").value = query;
    const before = view.selected;
    model.sift();
    if (!model.keep && before) {
      const row = model.rowOf(before.side, before.node);
      if (row) model.reveal(row);
    }
    $("rows").scrollTop = 0;
    view.refresh();
    if (view.selected) view.select(view.selected);
  }

  function undo() {
    view.say(model.undo() ? "undone" : "nothing to undo");
    view.refresh();
  }

  // ---- saving

  async function save() {
    const text = model.saved();
    if (data.serve) return send(text, false);
    const link = element("a", { download: data.name.replace(/^.*[\\/]/, "") || "mapping.yaml",
      href: URL.createObjectURL(new Blob([text], { type: "application/yaml" })) });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    saved = model.decisions;
    return view.say(`saved ${link.download}`);
  }

  async function send(text, force) {
    let answer;
    try {
      answer = await fetch("save", { method: "POST", headers: { "Content-Type": "application/json", "X-Layermap-Token": data.serve.token },
        body: JSON.stringify({ decisions: model.decisions, start: data.serve.start, revision, force }) });
    } catch {
      return view.say("not saved: the server has ended; start layermap review --serve again", true);
    }
    const found = await answer.json().catch(() => ({}));
    if (answer.status === 409) {
      $("conflict").showModal();
      return view.say("not saved: the file has changed since this page was loaded", true);
    }
    if (!answer.ok) return view.say(`not saved: ${found.error || answer.status}`, true);
    revision = found.revision;
    saved = model.decisions;
    if (found.text !== text) return view.say("saved, but not as shown here: please report this with both inputs", true);
    return view.say(`saved ${data.name}`);
  }

  async function stayAlive() {
    const answer = await fetch("alive", { headers: { "X-Layermap-Token": data.serve.token } });
    const reader = answer.body.getReader();
    while (!(await reader.read()).done);
    view.say("the server has ended", true);
  }

  // ---- keys

  const keys = {
    ArrowUp: () => move(-1), ArrowDown: () => move(1), k: () => move(-1), j: () => move(1),
    PageUp: () => move(-20), PageDown: () => move(20), Home: () => move(-1e9), End: () => move(1e9),
    ArrowRight: () => view.selected && (model.isOpen(view.selected) ? move(1) : toggle(view.selected)),
    ArrowLeft: () => {
      const row = view.selected;
      if (row && model.hasBelow(row) && model.isOpen(row)) toggle(row);
      else if (row && row.parent && row.parent.node > 0) view.select(view.rows.find((item) => item.key === row.parent.key) || row);
    },
    Enter: () => toggle(view.selected), " ": () => toggle(view.selected),
    a: () => actions.accept(view.selected), x: () => actions.reject(view.selected), r: () => actions.pick(view.selected),
    n: () => next(1), p: () => next(-1), e: () => view.selected && each(view.selected),
    o: () => actions.setHere(!here), u: undo, s: save,
    "/": () => $("search").focus(), "?": () => $("keys").showModal(),
    Escape: () => { actions.unpick(); if (model.keep) setFilter("all", ""); },
  };

  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.closest("input[type=search], dialog[open]");
    if ((event.ctrlKey || event.metaKey) && !event.altKey && "zs".includes(event.key)) {
      event.preventDefault();
      return event.key === "z" ? undo() : save();
    }
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return undefined;
    if (event.target.closest("button, input") && [" ", "Enter"].includes(event.key)) return undefined;
    const number = Number(event.key);
    let action = keys[event.key];
    if (number >= 1 && number <= 9 && decidable(view.selected)) {
      const found = model.candidates(view.selected.node)[number - 1];
      if (found) action = () => actions.link(view.selected, found[0]);
    }
    if (!action) return undefined;
    event.preventDefault();
    return action();
  });

  let waiting = 0;
  $("search").addEventListener("input", (event) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => setFilter(model.filter, event.target.value), 80);
  });
  $("search").addEventListener("keydown", (event) => {
    if (event.key === "Escape") setFilter(model.filter, "");
    if (event.key === "Escape" || event.key === "Enter" || event.key === "ArrowDown") $("rows").focus();
  });
  for (const name of ["all", "review", "one"]) $(`show-${name}`).addEventListener("click", () => setFilter(name));
  $("show-apis").addEventListener("click", () => { model.apis = !model.apis; model.skeleton = null; view.refresh(); });
  $("undo").addEventListener("click", undo);
  $("save").addEventListener("click", save);
  $("help").addEventListener("click", () => $("keys").showModal());
  $("overwrite").addEventListener("click", () => { $("conflict").close(); send(model.saved(), true); });
  window.addEventListener("beforeunload", (event) => { if (saved !== model.decisions) event.preventDefault(); });

  $("sides").textContent = `${data.npu.label} → ${data.bench.label}`;
  $("file").textContent = data.name;
  $("save").firstChild.textContent = data.serve ? "Save " : "Save mapping.yaml ";
  view.refresh();
  $("rows").focus();
  if (data.serve) stayAlive();
}

start();
