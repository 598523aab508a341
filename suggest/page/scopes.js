// Two sides as trees of scopes, and how scopes are written: `Scopes` of scopes.py, and needs.py. A side comes folded into
// kinds; here every place gets a number again, in preorder.
"use strict";

const scoping = (() => {
  const TOP = "TopLayer";

  function unfold(side) {
    const kinds = side.kinds.map(([type, states, called, cls, params, names, below]) => ({
      type, states, called, cls, params, names, below, place: new Map(names.map((name, at) => [name, at])),
    }));
    const scopes = { kinds, gradient: side.gradient, names: [], parents: [], kind: [], kids: [], ends: [], bench: new Map() };
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

  /** Whether nothing but a parameter's gradient stands at a place. */
  const isGradient = (scopes, node) =>
    kindOf(scopes, node).states.every((count, state) => count > 0 === (state === scopes.gradient)) && scopes.gradient >= 0;

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

  return { TOP, unfold, kindOf, typeOf, child, find, pathOf, hasState, isGradient, joined, below, nowhere, taken };
})();
