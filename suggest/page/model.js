// What a reviewer looks for: search, filters, and other counterparts to take.
"use strict";

class Model extends Rows {
  constructor(data) {
    super(data);
    this.filter = "all";
    this.query = "";
  }

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

function lowered(scopes) {
  const paths = [""];
  for (let node = 1; node < scopes.length; node++) {
    const outer = scopes.parents[node];
    paths.push(outer ? paths[outer] + "." + scopes.names[node] : scopes.names[node]);
  }
  return paths.map((path) => path.toLowerCase());
}
