// A reviewer's decisions worked into a document: decisions.py, function by function.
"use strict";

const deciding = (() => {
  const { kindOf, typeOf, find, hasState, joined, below, nowhere, taken } = scoping;
  const { NOWHERE, IDENTITY, land } = replaying;
  const { REVIEWED, parts, forbidden, words, ruledOut, rulesOf, at, withRule, without, withComment } = documents;

  class Decider {
    constructor(npu, bench, lines) {
      this.npu = npu;
      this.bench = bench;
      this.lines = lines;
      this.landing = land(npu, bench, rulesOf(lines));
      this.inside = new Set();
    }

    run(decision) {
      const nodes = decision.nodes.map((path) => find(this.npu, path)).filter((node) => node);
      if (!nodes.length) return this.lines;
      this.inside = this.subtrees(nodes);
      if (decision.kind === "link") {
        const targets = this.targets(nodes, decision.target);
        nodes.forEach((node, index) => {
          if (this.landing.scopes[node] !== targets[index]) this.place(node, targets[index], decision.here);
        });
      }
      if (decision.kind === "reject") {
        for (const node of nodes)
          if (taken(this.npu, this.bench, node, this.landing.scopes[node])) this.place(node, null, decision.here);
      } else this.markReviewed(nodes);
      return this.lines;
    }

    subtrees(nodes) {
      const inside = new Set();
      for (const node of nodes) for (let id = node; id < this.npu.ends[node]; id++) inside.add(id);
      return inside;
    }

    targets(nodes, target) {
      const [height, rest, key] = this.relation(nodes[0], target);
      const found = nodes.map((node) => {
        let stop = this.npu.parents[node], own = this.npu.names[node];
        for (let up = 1; up < height; up++)
          if (stop > 0) {
            own = joined(this.npu.names[stop], own);
            stop = this.npu.parents[stop];
          }
        return joined(this.landing.scopes[stop], shifted(rest, key, own));
      });
      found[0] = target;
      return found;
    }

    relation(node, target) {
      let stop = this.npu.parents[node], key = this.npu.names[node], height = 1;
      while (stop) {
        const rest = below(this.landing.scopes[stop], target);
        if (rest !== null && this.landing.scopes[stop]) return [height, rest, key];
        key = joined(this.npu.names[stop], key);
        stop = this.npu.parents[stop];
        height++;
      }
      return [height, target, key];
    }

    place(node, target, here) {
      let best = null;
      for (const anchor of this.anchors(node, here)) {
        const tried = this.tried(node, target, anchor);
        if (!tried) continue;
        const harm = target !== null || here ? this.harm(tried[1], here) : 0;
        if (!best || harm < best[0]) best = [harm, anchor, ...tried];
        if (harm === 0) break;
      }
      if (best) this.adopt(best[1], best[2], best[3]);
    }

    anchors(node, here) {
      const found = [];
      let key = this.npu.names[node], stop = this.npu.parents[node];
      while (stop >= 0) {
        const section = typeOf(this.npu, stop);
        if (section !== null) found.push({ section, key, stop });
        key = joined(this.npu.names[stop], key);
        stop = this.npu.parents[stop];
      }
      const index = this.landing.rules[node];
      if (index === IDENTITY || here) return found;
      const rule = rulesOf(this.lines)[index];
      const now = (anchor) => anchor.section === rule.section && anchor.key === rule.key;
      return [...found.filter(now), ...found.filter((anchor) => !now(anchor))];
    }

    tried(node, target, anchor) {
      const index = at(this.lines, anchor.section, anchor.key);
      const image = this.landing.scopes[anchor.stop];
      const rest = target === null ? nowhere(this.bench, this.npu.names[node]) : below(image, target);
      if (rest === null || (anchor.stop && !image)) return null;
      const refused = (index >= 0 ? forbidden(this.lines[index]) : []).filter((name) => name !== rest);
      if (target === null) {
        const was = below(image, this.landing.scopes[node]);
        if (was && !refused.includes(was)) refused.push(was);
      }
      const said = target === null ? ruledOut(refused) : [REVIEWED, ...ruledOut(refused)];
      const lines = withRule(this.lines, anchor.section, anchor.key, rest, said);
      const landing = land(this.npu, this.bench, rulesOf(lines));
      const reached = landing.scopes[node];
      const right = target === null ? !taken(this.npu, this.bench, node, reached) : reached === target;
      return right ? [lines, landing] : null;
    }

    harm(landing, exactly) {
      let count = 0;
      for (let node = 0; node < this.npu.length; node++) {
        const before = this.landing.nodes[node], after = landing.nodes[node];
        if (before !== after && !this.inside.has(node) && (exactly || (this.hit(node, before) && !this.hit(node, after))))
          count++;
      }
      return count;
    }

    adopt(anchor, lines, landing) {
      const fired = new Set(this.landing.rules), fires = new Set(landing.rules);
      const working = new Set();
      rulesOf(lines).forEach((rule, index) => {
        if (fires.has(index)) working.add(rule.section + "\n" + rule.key);
      });
      rulesOf(this.lines).forEach((rule, index) => {
        const line = lines[at(lines, rule.section, rule.key)];
        if (fired.has(index) && !working.has(rule.section + "\n" + rule.key) && !words(line).length)
          lines = without(lines, rule.section, rule.key);
      });
      const index = at(lines, anchor.section, anchor.key);
      if (index >= 0 && lines[index].key === lines[index].target && parts(lines[index]).join("; ") === REVIEWED) {
        const fewer = without(lines, anchor.section, anchor.key);
        const there = land(this.npu, this.bench, rulesOf(fewer)).scopes;
        if (there.every((scope, node) => scope === landing.scopes[node])) lines = fewer;
      }
      this.lines = lines;
      this.landing = land(this.npu, this.bench, rulesOf(lines));
    }

    markReviewed(nodes) {
      const rules = rulesOf(this.lines);
      const deciding = new Set(nodes.map((node) => this.landing.rules[node]).filter((rule) => rule !== IDENTITY));
      for (const index of [...deciding].sort((one, other) => one - other)) {
        const line = this.lines[rules[index].line];
        if (parts(line).includes(REVIEWED)) continue;
        const refused = forbidden(line).filter((name) => name !== line.target);
        this.lines = withComment(this.lines, rules[index].line, [REVIEWED, ...ruledOut(refused)]);
      }
    }

    hit(node, place) {
      return place !== NOWHERE && hasState(this.npu, node, 0) && hasState(this.bench, place, 0);
    }
  }

  const digits = (path) => path.split(".").filter((step) => /^[0-9]{1,9}$/.test(step)).map(Number);

  function shifted(rest, key, own) {
    const old = digits(key), next = digits(own);
    if (digits(rest).length !== old.length || old.length !== next.length) return rest;
    const moves = next.map((after, index) => after - old[index]);
    return rest.split(".").map((step) => (/^[0-9]{1,9}$/.test(step) ? String(Number(step) + moves.shift()) : step)).join(".");
  }

  const decide = (npu, bench, lines, decisions) =>
    decisions.reduce((document, decision) => new Decider(npu, bench, document).run(decision), lines);

  return { decide };
})();
