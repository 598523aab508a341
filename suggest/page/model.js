// The state of a review: the document, what was accepted, what the replay says of every module, and the rows to show.
"use strict";

const SURE = "sure", REVIEW = "review", ONE = "one", CLASH = "clash", FREE = "free";

class Model {
  constructor(data) {
    this.data = data;
    this.npu = engine.unfold(data.npu);
    this.bench = engine.unfold(data.bench);
    this.lines = this.first = engine.linesOf(data);
    this.accepted = new Set();
    this.decisions = [];
    this.past = [];
    this.open = new Set(["n0"]);
    this.split = new Set();
    this.filter = "all";
    this.query = "";
    this.apis = false;
    this.chosen = restored(data.chosen);
    this.second = restored(data.second);
    this.replay();
    this.openTop(46);
  }

  // ---- decisions

  decide(decision, nodes) {
    const before = this.landing;
    this.past.push([this.lines, this.accepted, this.decisions]);
    this.lines = engine.decide(this.npu, this.bench, this.lines, [decision]);
    this.accepted = new Set(this.accepted);
    for (const node of nodes) this.accepted.add(node);
    this.decisions = [...this.decisions, decision];
    this.replay();
    return this.changed(before, this.landing);
  }

  preview(decision) {
    const lines = engine.decide(this.npu, this.bench, this.lines, [decision]);
    return this.changed(this.landing, engine.land(this.npu, this.bench, engine.rulesOf(lines)));
  }

  undo() {
    if (!this.past.length) return false;
    [this.lines, this.accepted, this.decisions] = this.past.pop();
    this.replay();
    return true;
  }

  changed(before, after) {
    const nodes = [];
    let lost = 0;
    for (let node = 1; node < this.npu.length; node++) {
      if (!this.kind(node).called) continue;
      const old = this.hitOf(node, before.nodes[node]), now = this.hitOf(node, after.nodes[node]);
      if (old !== now) {
        nodes.push(node);
        if (now < 0) lost++;
      }
    }
    return { nodes, lost };
  }

  saved() {
    return engine.saved(this.data, this.npu, this.bench, this.lines, this.landing);
  }

  shownLines() {
    return engine.withCounts(this.data, this.npu, this.bench, this.lines, this.landing);
  }

  // ---- what the replay says

  kind(node) { return engine.kindOf(this.npu, node); }

  hitOf(node, place) {
    return place >= 0 && engine.hasState(this.npu, node, 0) && engine.hasState(this.bench, place, 0) ? place : -1;
  }

  replay() {
    const count = this.npu.length;
    this.rules = engine.rulesOf(this.lines);
    this.landing = engine.land(this.npu, this.bench, this.rules);
    this.hit = new Int32Array(count).fill(-1);
    this.owner = new Int32Array(this.bench.length).fill(-1);
    this.status = new Array(count).fill(FREE);
    this.why = new Map();
    const met = new Int32Array(this.bench.length).fill(-1), clashing = new Map();
    this.rivals = clashing;
    this.matched = 0;
    this.settled = new Uint8Array(count);
    this.owner[0] = 0;
    for (let node = 1; node < count; node++) {
      const place = this.landing.nodes[node];
      if (place >= 0 && this.owner[place] < 0) this.owner[place] = node;
      this.hit[node] = this.hitOf(node, place);
      if (this.hit[node] >= 0 && this.kind(node).called) {
        this.matched++;
        if (met[place] >= 0) {
          clashing.set(node, met[place]);
          clashing.set(met[place], node);
        } else {
          met[place] = node;
          this.owner[place] = node;
        }
      }
    }
    const remarks = this.rules.map((rule) => this.remarks(rule));
    for (let node = 1; node < count; node++) {
      if (this.kind(node).called) this.status[node] = this.judge(node, remarks, clashing);
      else if (engine.hasState(this.npu, node, 0)) this.status[node] = this.hit[node] >= 0 ? SURE : FREE;
    }
    this.sign();
    this.skeleton = null;
  }

  remarks(rule) {
    const parts = engine.parts(rule);
    return {
      reviewed: parts.includes(engine.REVIEWED),
      review: engine.toReview(rule) ? parts.find((part) => part.includes("review")) : "",
      refused: engine.forbidden(rule).length > 0,
    };
  }

  judge(node, remarks, clashing) {
    const remark = remarks[this.landing.rules[node]] || { reviewed: false, review: "", refused: false };
    const best = this.chosen[node], place = this.hit[node];
    if (clashing.has(node)) {
      this.why.set(node, () => `also the counterpart of ${engine.pathOf(this.npu, clashing.get(node))}`);
      return CLASH;
    }
    if (place >= 0 && (this.accepted.has(node) || remark.reviewed)) return SURE;
    if (place < 0) {
      const settled = this.accepted.has(node) || remark.refused || this.settled[this.npu.parents[node]];
      if (settled) this.settled[node] = 1;
      if (best < 0 || settled) return ONE;
      this.why.set(node, () => `a likely counterpart is free to take: ${engine.pathOf(this.bench, best)}`);
      return REVIEW;
    }
    if (best !== place) {
      this.why.set(node, () =>
        best < 0 ? "no likely counterpart was found, yet the rules give it one"
          : `a likelier counterpart: ${engine.pathOf(this.bench, best)}`);
      return REVIEW;
    }
    const evidence = this.evidence(node);
    if (remark.review || (evidence && evidence.confidence < this.data.reviewBelow)) {
      this.why.set(node, () =>
        remark.review.replace(/^.*?review:? ?/, "") || `confidence only ${evidence.confidence.toFixed(2)}`);
      return REVIEW;
    }
    return SURE;
  }

  evidence(node) {
    const item = this.data.evidence[this.data.why[node]];
    if (!item) return null;
    const [confidence, score, rival, name, cls, shape, parent, children, note] = item;
    return { confidence, score, rival, name, cls, shape, parent, children, note };
  }

  // ---- folding: siblings that differ in their number only, and in nothing that a reviewer cares about, are one row

  sign() {
    const known = new Map();
    const number = (text) => {
      let found = known.get(text);
      if (found === undefined) known.set(text, (found = known.size));
      return found;
    };
    const { npu, bench, landing } = this;
    this.alone = new Map();
    this.benchSign = new Int32Array(bench.length).fill(-1);
    for (let node = bench.length - 1; node > 0; node--) {
      if (this.owner[node] >= 0) continue;
      const parent = bench.parents[node], own = this.owner[parent] >= 0 ? "n" + this.owner[parent] : "b" + parent;
      if (!this.alone.has(own)) this.alone.set(own, []);
      this.alone.get(own).unshift(node);
      const below = (this.alone.get("b" + node) || []).map((child) => this.benchSign[child]);
      this.benchSign[node] = number(`b${bench.kind[node]}/${below}`);
    }
    this.npuSign = new Int32Array(npu.length);
    for (let node = npu.length - 1; node > 0; node--) {
      const relation = landing.rules[node] === engine.IDENTITY ? "=" : this.relation(node);
      const inner = npu.kids[node].map((child) => this.npuSign[child]);
      const alone = (this.alone.get("n" + node) || []).map((child) => this.benchSign[child]);
      this.npuSign[node] =
        number(`${npu.kind[node]}|${this.status[node]}|${landing.rules[node]}|${relation}|${inner}|${alone}`);
    }
  }

  /** A place relative to the parent's, layers by how far they are moved. */
  relation(node) {
    const outer = this.landing.scopes[this.npu.parents[node]], scope = this.landing.scopes[node];
    const rest = engine.below(outer, scope) ?? "!" + scope, name = this.npu.names[node];
    if (/^\d+$/.test(name) && /^\d+$/.test(rest)) return "+" + (Number(rest) - Number(name));
    return rest === name ? "=" : rest;
  }

  // ---- rows

  /** The rows below a row, bench modules without counterpart placed behind their siblings. */
  below(row) {
    const { npu, bench } = this;
    const own = row.side === "npu" ? npu.kids[row.node].filter((child) => this.shown("npu", child)) : [];
    const alone = (this.alone.get((row.side === "npu" ? "n" : "b") + row.node) || []).filter((child) =>
      this.shown("bench", child));
    const rows = own.map((node) => ({ side: "npu", node }));
    for (const node of alone) {
      const siblings = bench.kids[bench.parents[node]];
      let at = 0;
      for (let before = siblings.indexOf(node) - 1; before >= 0 && !at; before--)
        at = rows.findIndex((item) =>
          item.side === "npu" ? this.landing.nodes[item.node] === siblings[before] : item.node === siblings[before]) + 1;
      rows.splice(at, 0, { side: "bench", node });
    }
    return this.grouped(rows, row);
  }

  grouped(rows, parent) {
    const found = [];
    for (const { side, node } of rows) {
      const scopes = side === "npu" ? this.npu : this.bench, signs = side === "npu" ? this.npuSign : this.benchSign;
      const last = found[found.length - 1];
      const alike = last && last.side === side && /^\d+$/.test(scopes.names[node]) && /^\d+$/.test(scopes.names[last.node]) &&
        signs[last.node] === signs[node] && !this.split.has(last.key) && this.kept(side, last.node) === this.kept(side, node);
      if (alike) last.nodes.push(node);
      else found.push({ side, node, nodes: [node], key: side[0] + node, depth: parent.depth + 1, parent });
    }
    return found;
  }

  shown(side, node) {
    if (!this.kept(side, node)) return false;
    return this.apis || !this.isApi(side === "npu" ? this.npu : this.bench, node);
  }

  /** An API, or the place of a parameter's gradient: what no module stands for and nothing is below. */
  isApi(scopes, node) {
    const kind = engine.kindOf(scopes, node);
    return !kind.called && !kind.names.length && kind.states.some((count) => count > 0);
  }

  kept(side, node) { return !this.keep || this.keep[side][node] === 1; }

  /** How many modules a row stands for on its own side, all levels of folding counted. */
  members(row) {
    if (row.side !== "npu") return [];
    if (!row.parent) return [row.node];
    const outer = row.parent.side === "npu" ? this.members(row.parent) : [row.parent.node];
    if (outer.length === 1) return row.nodes;
    const names = row.nodes.map((node) => this.npu.names[node]);
    return outer.flatMap((node) => names.map((name) => engine.child(this.npu, node, name)))
      .filter((node) => node !== undefined);
  }

  times(row) {
    return row.parent ? this.times(row.parent) * row.nodes.length : 1;
  }

  hasBelow(row) {
    const { npu } = this;
    if (row.side === "npu" && npu.kids[row.node].some((child) => this.shown("npu", child))) return true;
    return (this.alone.get((row.side === "npu" ? "n" : "b") + row.node) || []).some((child) => this.shown("bench", child));
  }

  isOpen(row) { return this.keep ? !this.open.has("shut " + row.key) : this.open.has(row.key); }

  rows(everything = false) {
    const found = [];
    const root = { side: "npu", node: 0, nodes: [0], key: "n0", depth: -1, parent: null };
    const walk = (row) => {
      for (const next of this.below(row)) {
        found.push(next);
        if (everything || this.isOpen(next)) walk(next);
      }
    };
    walk(root);
    return found;
  }

  /** Every folded row, all of them open: what "next to review" steps through. */
  allRows() {
    if (!this.skeleton) {
      const keep = this.keep;
      this.keep = null;
      this.skeleton = this.rows(true);
      this.keep = keep;
    }
    return this.skeleton;
  }

  openTop(most) {
    let shown = this.rows();
    for (let depth = 0; depth < 12; depth++) {
      const added = shown.filter((row) => row.depth === depth && this.hasBelow(row) && !this.open.has(row.key));
      for (const row of added) this.open.add(row.key);
      const next = this.rows();
      if (next.length > most) {
        for (const row of added) this.open.delete(row.key);
        break;
      }
      shown = next;
    }
  }

  /** The row of one place, groups around it taken apart where it is not their first member. */
  rowOf(side, node) {
    const chain = [];
    for (let [at, on] = [node, side]; at > 0;) {
      chain.unshift([on, at]);
      const outer = on === "npu" ? this.npu.parents[at] : this.bench.parents[at];
      if (on === "bench" && this.owner[outer] >= 0) [at, on] = [this.owner[outer], "npu"];
      else at = outer;
    }
    let row = { side: "npu", node: 0, nodes: [0], key: "n0", depth: -1, parent: null };
    for (const [on, at] of chain) {
      const find = () => this.below(row).find((item) => item.side === on && item.nodes.includes(at));
      let next = find();
      if (next && next.node !== at) {
        for (const member of next.nodes) this.split.add(on[0] + member);
        next = find();
      }
      if (!next) return null;
      row = next;
    }
    return row;
  }

  reveal(row) {
    for (let outer = row.parent; outer; outer = outer.parent) {
      this.open.add(outer.key);
      this.open.delete("shut " + outer.key);
    }
  }

  isDoubtful(row) { return row.side === "npu" && this.doubtful(row.node); }

  /** Of two on one counterpart, the one that it suits is not in doubt until the other is accepted. */
  doubtful(node) {
    if (this.status[node] !== CLASH) return this.status[node] === REVIEW;
    return this.chosen[node] !== this.hit[node] || this.accepted.has(this.rivals.get(node));
  }

  isOneSided(row) { return row.side === "bench" ? engine.kindOf(this.bench, row.node).called === 1 : this.status[row.node] === ONE; }

  // ---- search and filters: `keep` marks what matches, and everything above it

  sift() {
    const words = this.query.toLowerCase().split(/\s+/).filter((word) => word);
    if (this.filter === "all" && !words.length) {
      this.keep = null;
      return;
    }
    this.paths = this.paths || { npu: lowered(this.npu), bench: lowered(this.bench) };
    const { npu, bench } = this;
    const found = { npu: new Uint8Array(npu.length), bench: new Uint8Array(bench.length) };
    for (let node = 1; node < npu.length; node++) {
      const status = this.status[node];
      if (this.filter === "review" && !this.doubtful(node)) continue;
      if (this.filter === "one" && status !== ONE) continue;
      if (!this.apis && this.isApi(npu, node)) continue;
      const place = this.landing.nodes[node];
      const text = this.paths.npu[node] + (place > 0 ? "\n" + this.paths.bench[place] : "");
      if (words.every((word) => text.includes(word))) found.npu[node] = 1;
    }
    for (let node = 1; node < bench.length; node++) {
      if (this.owner[node] >= 0 || this.filter === "review") continue;
      if (this.filter === "one" && !engine.kindOf(bench, node).called) continue;
      if (!this.apis && this.isApi(bench, node)) continue;
      if (words.every((word) => this.paths.bench[node].includes(word))) found.bench[node] = 1;
    }
    for (let node = bench.length - 1; node > 0; node--) {
      const parent = bench.parents[node];
      if (!found.bench[node]) continue;
      if (this.owner[parent] >= 0) found.npu[this.owner[parent]] = 1;
      else found.bench[parent] = 1;
    }
    for (let node = npu.length - 1; node > 0; node--) if (found.npu[node]) found.npu[npu.parents[node]] = 1;
    this.keep = found;
  }

  // ---- other counterparts for a module, the likeliest first

  candidates(node) {
    const { npu, bench } = this;
    const found = new Map();
    const add = (place, why) => {
      if (place > 0 && place !== this.hit[node] && !found.has(place) && engine.hasState(bench, place, 0)) found.set(place, why);
    };
    add(this.chosen[node], "likeliest");
    add(this.second[node], "runner-up");
    const home = this.landing.nodes[npu.parents[node]];
    const near = [];
    const around = home >= 0 ? home : this.hit[node] > 0 ? bench.parents[this.hit[node]] : -1;
    if (around >= 0)
      for (const child of bench.kids[around].slice(0, 300))
        near.push(child, ...(/^\d+$/.test(bench.names[child]) ? [] : bench.kids[child].slice(0, 40)));
    const own = this.kind(node);
    const worth = (place) => {
      const kind = engine.kindOf(bench, place);
      return (this.owner[place] < 0 ? 4 : 0) + (bench.names[place] === npu.names[node] ? 3 : 0) +
        (own.params.length && String(kind.params) === String(own.params) ? 2 : 0) + (kind.cls === own.cls ? 1 : 0) +
        (kind.called ? 1 : -9);
    };
    near.map((place, index) => [worth(place), index, place]).filter(([value]) => value > 0)
      .sort((one, other) => other[0] - one[0] || one[1] - other[1]).forEach(([, , place]) => add(place, "nearby"));
    return [...found].slice(0, 9);
  }

  searchBench(query) {
    this.paths = this.paths || { npu: lowered(this.npu), bench: lowered(this.bench) };
    const words = query.toLowerCase().split(/\s+/).filter((word) => word);
    const found = [];
    for (let node = 1; words.length && node < this.bench.length && found.length < 12; node++)
      if (engine.hasState(this.bench, node, 0) && words.every((word) => this.paths.bench[node].includes(word))) found.push(node);
    return found;
  }
}

function restored(steps) {
  let value = 0;
  return steps.map((step) => (value += step));
}

function lowered(scopes) {
  const paths = [""];
  for (let node = 1; node < scopes.length; node++) {
    const outer = scopes.parents[node];
    paths.push(outer ? paths[outer] + "." + scopes.names[node] : scopes.names[node]);
  }
  return paths.map((path) => path.toLowerCase());
}
