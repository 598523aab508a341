// A reviewer's decisions worked into a document: decisions.py, function by function.
"use strict";

const deciding = (() => {
  const { kindOf, typeOf, child, find, pathOf, hasState, isGradient, joined, below, nowhere, taken } = scoping;
  const { NOWHERE, IDENTITY, land } = replaying;
  const { REVIEWED, FOR_GRADIENTS, parts, forbidden, words, ruledOut, rulesOf, at, withRule, without, withComment } = documents;

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
      const before = this.landing, busy = this.busy();
      if (decision.kind === "link") {
        const targets = this.targets(nodes, decision.target);
        nodes.forEach((node, index) => {
          if (this.landing.scopes[node] !== targets[index]) this.place(node, targets[index], decision.here);
        });
      }
      if (decision.kind === "reject") {
        for (const node of nodes)
          if (taken(this.npu, this.bench, node, this.landing.scopes[node])) this.place(node, null, decision.here);
      } else {
        this.markReviewed(nodes);
        this.settle(nodes, decision);
      }
      this.follow(before, decision.here);
      const still = this.busy();
      for (const { section, key } of rulesOf(this.lines)) {
        const name = section + "\n" + key;
        if (busy.has(name) && !still.has(name)) this.dropForGradients(section, key);
      }
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

    settle(nodes, decision) {
      for (const node of nodes) {
        if (this.landing.rules[node] !== IDENTITY || !hasState(this.npu, node, 0)) continue;
        if (this.hit(node, this.landing.nodes[node])) this.place(node, this.landing.scopes[node], decision.here);
        else if (decision.kind === "accept") this.place(node, null, true, [REVIEWED]);
      }
    }

    follow(before, here) {
      const wishes = [], { npu, bench } = this, { nodes, scopes } = this.landing;
      const moved = (node) => nodes[node] !== before.nodes[node] && nodes[node] !== NOWHERE;
      for (let node = 1; node < npu.length; node++) {
        if (!moved(node)) continue;
        const inner = child(npu, node, npu.names[node]), place = find(bench, scopes[node]);
        if (inner === undefined || place === undefined || moved(inner)) continue;
        const other = child(bench, place, bench.names[place]);
        if (other !== undefined && isGradient(npu, inner) && isGradient(bench, other)) wishes.push([inner, other]);
      }
      wishes.sort(([one], [next]) => one - next);
      for (const [inner, other] of wishes) {
        const target = pathOf(bench, other);
        if (this.landing.scopes[inner] !== target) this.place(inner, target, here, [FOR_GRADIENTS]);
      }
    }

    busy() {
      const rules = rulesOf(this.lines), found = new Set();
      for (let node = 1; node < this.npu.length; node++) {
        const rule = rules[this.landing.rules[node]];
        if (rule && this.hit(node, this.landing.nodes[node])) found.add(rule.section + "\n" + rule.key);
      }
      return found;
    }

    dropForGradients(section, key) {
      const index = at(this.lines, section, key);
      if (index >= 0 && !words(this.lines[index]).length && parts(this.lines[index]).some((part) => part.endsWith(FOR_GRADIENTS)))
        this.lines = without(this.lines, section, key);
    }

    place(node, target, here, said = []) {
      let best = null;
      for (const anchor of this.anchors(node, here)) {
        const tried = this.tried(node, target, anchor, said);
        if (!tried) continue;
        const harm = target !== null || here ? this.harm(tried[1], here) : 0;
        if (!best || harm < best[0]) best = [harm, ...tried];
        if (harm === 0) break;
      }
      if (best) this.adopt(best[1], best[2]);
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

    tried(node, target, anchor, said) {
      const index = at(this.lines, anchor.section, anchor.key);
      const image = this.landing.scopes[anchor.stop];
      const rest = target === null ? nowhere(this.bench, this.npu.names[node]) : below(image, target);
      if (rest === null || (anchor.stop && !image)) return null;
      const refused = (index >= 0 ? forbidden(this.lines[index]) : []).filter((name) => name !== rest);
      if (target === null && !said.length) {
        const was = below(image, this.landing.scopes[node]);
        if (was && !refused.includes(was)) refused.push(was);
      }
      const remark = said.length || target === null ? said : [REVIEWED];
      const lines = withRule(this.lines, anchor.section, anchor.key, rest, [...remark, ...ruledOut(refused)]);
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

    adopt(lines, landing) {
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
      if (place === NOWHERE) return false;
      if (isGradient(this.npu, node) && isGradient(this.bench, place)) return true;
      return hasState(this.npu, node, 0) && hasState(this.bench, place, 0);
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
