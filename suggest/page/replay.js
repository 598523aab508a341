// Where a mapping's rules send every place: `land` of replay.py.
"use strict";

const replaying = (() => {
  const { kindOf, typeOf, child } = scoping;
  const NOWHERE = -1, IDENTITY = -1;

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

  return { NOWHERE, IDENTITY, land };
})();
