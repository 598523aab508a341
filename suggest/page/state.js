// The state of a review: the document, what was accepted, and what the replay says of every module.
"use strict";

const SURE = "sure", REVIEW = "review", ONE = "one", CLASH = "clash", FREE = "free";

class State {
  constructor(data) {
    this.data = data;
    this.npu = engine.unfold(data.npu);
    this.bench = engine.unfold(data.bench);
    this.lines = this.first = engine.linesOf(data);
    this.accepted = new Set();
    this.decisions = [];
    this.past = [];
    this.chosen = restored(data.chosen);
    this.second = restored(data.second);
    this.replay();
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
      const settled = this.accepted.has(node) || remark.refused || remark.reviewed || this.settled[this.npu.parents[node]];
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

  /** Of two on one counterpart, the one that it suits is not in doubt until the other is accepted. */
  doubtful(node) {
    if (this.status[node] !== CLASH) return this.status[node] === REVIEW;
    return this.chosen[node] !== this.hit[node] || this.accepted.has(this.rivals.get(node));
  }
}

function restored(steps) {
  let value = 0;
  return steps.map((step) => (value += step));
}
