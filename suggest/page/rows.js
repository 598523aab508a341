// The rows to show: the places of both sides, aligned, and equal layers folded into one row.
"use strict";

class Rows extends State {
  constructor(data) {
    super(data);
    this.open = new Set(["n0"]);
    this.split = new Set();
    this.apis = false;
    this.openTop(46);
  }

  replay() {
    super.replay();
    this.sign();
    this.skeleton = null;
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

  isOneSided(row) { return row.side === "bench" ? engine.kindOf(this.bench, row.node).called === 1 : this.status[row.node] === ONE; }
}
