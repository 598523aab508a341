// What the library does with a mapping and with a reviewer's decisions, ported function by function:
// Scopes from scopes.py, land from replay.py, the document's edits from document.py, decide from decisions.py.
// Nothing here touches the page, so that the tests can run it beside the Python. Strings that Python must judge
// (which characters are printable) come judged, in data.chars.
"use strict";

const engine = (() => {
  const NOWHERE = -1, IDENTITY = -1, TOP = "TopLayer";
  const REVIEWED = "reviewed", FORBIDDEN = "layermap: no";
  const OWN = new RegExp("^(?:(?:[0-9]\\.[0-9][0-9]|new|[0-9]\\.[0-9][0-9] new)?(?:(?:^| )(?:review(?:: [^\\n]*)?|blocked: " +
    "no counterpart|kept: another rule would move it|fused, covers [^\\n]*|for parameters_grad, [^\\n]*))?|reviewed)$");

  // ---- scopes.py: a side is folded into kinds; here every place gets a number again, in preorder

  function unfold(side) {
    const kinds = side.kinds.map(([type, states, called, cls, params, names, below]) => ({
      type, states, called, cls, params, names, below, place: new Map(names.map((name, at) => [name, at])),
    }));
    const scopes = { kinds, names: [], parents: [], kind: [], kids: [], ends: [], bench: new Map() };
    const stack = [[side.root, -1, 0, TOP]];
    while (stack.length) {
      const [kind, parent, at, name] = stack.pop();
      const node = scopes.names.length;
      scopes.names.push(name);
      scopes.parents.push(parent);
      scopes.kind.push(kind);
      scopes.kids.push(new Array(kinds[kind].names.length));
      if (parent >= 0) scopes.kids[parent][at] = node;
      for (let next = kinds[kind].below.length - 1; next >= 0; next--)
        stack.push([kinds[kind].below[next], node, next, kinds[kind].names[next]]);
    }
    scopes.length = scopes.names.length;
    scopes.ends = new Array(scopes.length);
    for (let node = scopes.length - 1; node >= 0; node--) {
      const below = scopes.kids[node];
      scopes.ends[node] = below.length ? scopes.ends[below[below.length - 1]] : node + 1;
    }
    scopes.known = new Set(scopes.names);
    return scopes;
  }

  const kindOf = (scopes, node) => scopes.kinds[scopes.kind[node]];

  function typeOf(scopes, node) {
    const type = kindOf(scopes, node).type;
    return type === 0 ? scopes.names[node] : type;
  }

  function child(scopes, node, name) {
    const at = kindOf(scopes, node).place.get(name);
    return at === undefined ? undefined : scopes.kids[node][at];
  }

  function find(scopes, path) {
    let node = 0;
    for (const step of path ? path.split(".") : []) {
      if (node === undefined) return undefined;
      node = child(scopes, node, step);
    }
    return node;
  }

  function pathOf(scopes, node) {
    const steps = [];
    for (; node > 0; node = scopes.parents[node]) steps.push(scopes.names[node]);
    return steps.reverse().join(".");
  }

  const hasState = (scopes, node, state) => kindOf(scopes, node).states[state] > 0;

  // ---- replay.py

  function land(npu, bench, rules) {
    const sections = compiled(rules);
    const scopes = new Array(npu.length).fill(""), nodes = new Int32Array(npu.length).fill(NOWHERE);
    const fired = new Int32Array(npu.length).fill(IDENTITY);
    nodes[0] = 0;
    const stack = [[0, null]];
    while (stack.length) {
      const [stop, claimed] = stack.pop();
      const type = typeOf(npu, stop);
      const section = type === null ? undefined : sections.get(type);
      const reached = reach(npu, stop, section, claimed);
      const deep = reached.filter(([, key]) => key && key.keys.length > 1).map(([node]) => node);
      const ends = claimed ? [...claimed, ...deep] : deep;
      for (const [node, key] of reached) {
        const target = key ? key.target : npu.names[node];
        scopes[node] = stop ? scopes[stop] + "." + target : target;
        nodes[node] = key ? descend(bench, nodes[stop], key.steps) : descendOne(bench, nodes[stop], target);
        fired[node] = key ? key.rule : IDENTITY;
        // Of the places that others claim, only those inside a subtree matter there.
        const next = ends.length ? ends.filter((end) => end > node && end < npu.ends[node]) : ends;
        stack.push([node, next.length ? new Set(next) : null]);
      }
    }
    return { scopes, nodes, rules: fired };
  }

  function compiled(rules) {
    const sections = new Map();
    rules.forEach((rule, index) => {
      const keys = rule.key.split(".");
      if (!sections.has(rule.section)) sections.set(rule.section, new Map());
      const section = sections.get(rule.section);
      if (!section.has(keys[0])) section.set(keys[0], []);
      section.get(keys[0]).push({ keys, target: rule.target, steps: rule.target.split("."), rule: index });
    });
    return sections;
  }

  function reach(npu, stop, section, claimed) {
    const found = [];
    const names = kindOf(npu, stop).names;
    for (let at = 0; at < names.length; at++) {
      const node = npu.kids[stop][at];
      if (claimed && claimed.has(node)) continue;
      const keys = (section && section.get(names[at])) || [];
      if (!keys.some((key) => key.keys.length === 1)) found.push([node, null]);
      for (const key of keys) {
        const end = under(npu, node, key.keys, claimed);
        if (end !== undefined) found.push([end, key]);
      }
    }
    return found;
  }

  function under(npu, node, keys, claimed) {
    for (let at = 1; at < keys.length; at++) {
      node = child(npu, node, keys[at]);
      if (node === undefined || (claimed && claimed.has(node))) return undefined;
    }
    return node;
  }

  function descendOne(bench, node, step) {
    const next = node === NOWHERE ? undefined : child(bench, node, step);
    return next === undefined ? NOWHERE : next;
  }

  const descend = (bench, node, steps) => steps.reduce((at, step) => descendOne(bench, at, step), node);

  // ---- needs.py

  const joined = (outer, inner) => (outer ? outer + "." + inner : inner);

  function below(outer, scope) {
    if (!outer) return scope || null;
    return scope.startsWith(outer + ".") ? scope.slice(outer.length + 1) : null;
  }

  function nowhere(bench, name) {
    let target = name + "_no_counterpart";
    while (bench.known.has(target)) target += "_";
    return target;
  }

  function taken(npu, bench, node, image) {
    const found = find(bench, image);
    return found !== undefined &&
      kindOf(npu, node).states.some((count, state) => count > 0 && hasState(bench, found, state));
  }

  // ---- document.py: a document is an array of lines; every edit makes a new one

  let chars = {};

  function quoted(text) {
    let out = "";
    for (const char of text) {
      const code = char.codePointAt(0);
      if (char === '"' || char === "\\") out += "\\" + char;
      else if (code >= 0x20 && code < 0x7f) out += char;
      else if (code < 0x80) out += "\\x" + code.toString(16).toUpperCase().padStart(2, "0");
      else out += chars[char][0];
    }
    return '"' + out + '"';
  }

  const printable = (text) => Array.from(text, (char) => {
    const code = char.codePointAt(0);
    return code < 0x80 ? (code >= 0x20 && code < 0x7f ? char : " ") : chars[char] ? chars[char][1] : char;
  }).join("");

  const PLAIN = /^[A-Za-z_][A-Za-z0-9_]*$/;
  const RESERVED = new Set(["y", "n", "yes", "no", "on", "off", "true", "false", "null"]);
  const plainOrQuoted = (section) =>
    PLAIN.test(section) && !RESERVED.has(section.toLowerCase()) ? section : quoted(section);

  const strip = (text) => text.replace(/^[ \t\r]+|[ \t\r]+$/g, "");
  const size = (text) => Array.from(text).length;
  const textOf = (line) => line.head + line.value + line.tail;

  function cut(tail) {
    const at = tail.indexOf("#");
    return at < 0 ? [tail, "", ""] : [tail.slice(0, at), "#", tail.slice(at + 1)];
  }

  function parts(line) {
    const [, sign, said] = cut(line.tail);
    return sign ? strip(said).split("; ").filter((part) => part) : [];
  }

  function forbidden(line) {
    const found = [];
    for (const part of parts(line)) {
      if (part === FORBIDDEN) found.push(line.target);
      else if (part.startsWith(FORBIDDEN + " ")) found.push(...part.slice(FORBIDDEN.length).split(",").map(strip));
    }
    return found;
  }

  const words = (line) => parts(line).filter((part) => !OWN.test(part) && !part.startsWith(FORBIDDEN));

  function ruledOut(targets) {
    const named = targets.join(", ");
    return named ? [FORBIDDEN + " " + printable(named)] : [];
  }

  function commented(line, said, column) {
    const all = [...said, ...words(line)];
    const gap = Math.max(2, column - size(line.head) - size(line.value));
    return { ...line, tail: all.length ? " ".repeat(gap) + "# " + all.join("; ") : "" };
  }

  function columnOf(line) {
    const [before, sign] = cut(line.tail);
    return sign ? size(line.head) + size(line.value) + size(before) : 0;
  }

  const rulesOf = (lines) =>
    lines.flatMap((line, index) => (line.kind === "rule" ? [{ ...line, line: index }] : []));

  const at = (lines, section, key) =>
    lines.findIndex((line) => line.kind === "rule" && line.section === section && line.key === key);

  const put = (lines, index, line) => lines.map((old, other) => (other === index ? line : old));

  const text = (string) => ({ kind: "text", head: string, value: "", tail: "", section: "", key: "", target: "" });

  function withRule(lines, section, key, target, said) {
    const index = at(lines, section, key);
    if (index >= 0) {
      const line = lines[index];
      const value = line.target === target ? line.value : quoted(target);
      return put(lines, index, commented({ ...line, value, target }, said, columnOf(line)));
    }
    const last = lines.findLastIndex(
      (line) => (line.kind === "rule" || line.kind === "section") && line.section === section);
    if (last < 0) return withRule(withSection(lines, section), section, key, target, said);
    const space = lines[last].kind === "rule" ? /^[ \t]*/.exec(lines[last].head)[0] : "  ";
    const line = { kind: "rule", head: space + quoted(key) + ": ", value: quoted(target), tail: "", section, key, target };
    return [...lines.slice(0, last + 1), commented(line, said, columnOf(lines[last])), ...lines.slice(last + 1)];
  }

  function without(lines, section, key) {
    const gone = new Set([at(lines, section, key)]);
    if (!lines.some((line, index) => line.kind === "rule" && line.section === section && !gone.has(index)))
      lines.forEach((line, index) => {
        if (line.kind === "section" && line.section === section) {
          gone.add(index);
          if (index && !strip(textOf(lines[index - 1]))) gone.add(index - 1);
        }
      });
    const left = lines.filter((_, index) => !gone.has(index));
    if (!left.some((line) => line.kind === "rule" || line.kind === "nothing"))
      left.splice(endOf(left), 0, { ...text("{}"), kind: "nothing" });
    return left;
  }

  const withComment = (lines, index, said) =>
    put(lines, index, commented(lines[index], said, columnOf(lines[index])));

  function withSection(lines, section) {
    const left = lines.filter((line) => line.kind !== "nothing");
    const added = { ...text(plainOrQuoted(section) + ":"), kind: "section", section };
    const first = left.findIndex((line) => line.kind === "section");
    if (section === TOP && first >= 0) left.splice(first, 0, added, text(""));
    else left.splice(endOf(left), 0, ...(first >= 0 ? [text(""), added] : [added]));
    return left;
  }

  function endOf(lines) {
    let last = lines.findLastIndex((line) => line.kind === "rule" || line.kind === "section");
    if (last < 0) {
      last = lines.length - 1;
      while (last >= 0 && !strip(textOf(lines[last]))) last--;
    }
    return last + 1;
  }

  // ---- decisions.py

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

  // ---- review.py

  function toReview(line) {
    return parts(line).some((part) => /^(?:[0-9]\.[0-9][0-9] )?(?:new )?review(?:$|:)/.test(part));
  }

  function counts(npu, bench, landing) {
    let matched = 0;
    for (let node = 1; node < npu.length; node++) {
      const place = landing.nodes[node];
      if (kindOf(npu, node).called && place !== NOWHERE && hasState(npu, node, 0) && hasState(bench, place, 0)) matched++;
    }
    return matched;
  }

  /** The lines as they would be saved: with the counts in the first two brought up to date. */
  function withCounts(data, npu, bench, lines, landing) {
    if (!data.header) return lines;
    const matched = counts(npu, bench, landing);
    const review = lines.filter((line) => line.kind === "rule" && toReview(line)).length;
    const rules = review === 1 ? "1 rule" : review + " rules";
    const second = `# ${matched} of ${data.npu.modules} NPU modules match, replayed as msprobe does; ${rules} to review; ` +
      `${data.npu.modules - matched} have no counterpart`;
    return [text(data.header), text(second), ...lines.slice(2)];
  }

  const saved = (data, npu, bench, lines, landing = land(npu, bench, rulesOf(lines))) =>
    withCounts(data, npu, bench, lines, landing).map(textOf).join(data.eol);

  function linesOf(data) {
    chars = data.chars;
    return data.lines.map(([kind, head, value, tail, section, key, target]) =>
      ({ kind, head, value, tail, section, key, target }));
  }

  return { NOWHERE, IDENTITY, REVIEWED, unfold, kindOf, typeOf, child, find, pathOf, land, rulesOf, textOf, parts, words,
    forbidden, toReview, decide, saved, withCounts, linesOf, joined, below, taken, hasState, nowhere };
})();

if (typeof module !== "undefined") module.exports = engine;
