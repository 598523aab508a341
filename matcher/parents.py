"""dev: parents from leaves"""

from __future__ import annotations

from .forest import Aligner


def complete(aligner: Aligner, links: dict[int, int], moved: dict[int, int]) -> dict[int, int]:
    left, right = aligner.left.tree, aligner.right.tree
    ll = _leafs(left, right, links)
    everything = _leafs(left, right, moved) | ll
    result = dict(ll) | moved
    taken = set(result.values())
    core_l, core_r = _core(left, ll), {}
    back = {b: a for a, b in ll.items()}
    core_r = _core(right, back)
    # a leaf is core for its ancestors that hold numbered items only if it is below such an item
    count_l, top_l = _summary(left, right, ll, core_l, core_r)
    count_r, top_r = _summary(right, left, back, core_r, core_l)
    eb = {b: a for a, b in everything.items()}
    done: set[int] = set()
    for a in range(1, len(left)):
        if a in result or a in done or count_l[a] == 0 or left.is_leaf(a):
            continue
        y = top_l[a]
        if y is None or y == 0 or count_r[y] != count_l[a] or top_r[y] is None:
            continue
        x = top_r[y]
        if not (a <= x < left.ends[a]):
            continue
        chain_a = [a]
        n = a
        while True:
            nxt = [c for c in left.children[n] if count_l[c] == count_l[a] and not left.is_leaf(c) and c not in result]
            if not nxt:
                break
            n = nxt[0]
            chain_a.append(n)
        done.update(chain_a)
        chain_b = [y]
        p = right.parents[y]
        while p > 0 and count_r[p] == count_r[y]:
            chain_b.append(p)
            p = right.parents[p]
        chain_b.reverse()
        for called in (True, False):
            ca = [n for n in chain_a if left.called[n] == called]
            cb = [n for n in chain_b if right.called[n] == called and n not in taken]
            for u, v in _chain(aligner, ca, cb, everything):
                result[u] = v
                taken.add(v)
    return result


def _leafs(left, right, links):
    below = [0] * (len(left) + 1)
    for n in range(len(left)):
        below[n + 1] = below[n] + (n in links)
    return {
        a: b for a, b in links.items() if left.is_leaf(a) or right.is_leaf(b) or below[left.ends[a]] == below[a] + 1
    }


def _core(tree, leaves):
    """Leaves below a numbered item of a list of at least two."""
    inside = [False] * len(tree)
    for n in range(1, len(tree)):
        p = tree.parents[n]
        inside[n] = inside[p] or (
            tree.names[n].isdigit() and len(tree.children[p]) > 1 and not tree.is_leaf(n) and p > 0
        )
    return {a for a in leaves if inside[a]}


def _summary(tree, other, leaves, core, core_other):
    """Per node: number of leaves that count, and the lowest node of the other tree above their images."""
    n = len(tree)
    core_count, core_top = [0] * n, [None] * n
    all_count, all_top = [0] * n, [None] * n
    for node in range(n - 1, -1, -1):
        if node in leaves:
            image = leaves[node]
            all_count[node] += 1
            all_top[node] = image if all_top[node] is None else _lca(other, all_top[node], image)
            if node in core and image in core_other:
                core_count[node] += 1
                core_top[node] = image if core_top[node] is None else _lca(other, core_top[node], image)
        if node:
            p = tree.parents[node]
            all_count[p] += all_count[node]
            core_count[p] += core_count[node]
            for top in (all_top, core_top):
                if top[node] is not None:
                    top[p] = top[node] if top[p] is None else _lca(other, top[p], top[node])
    inside = [False] * n
    for node in range(1, n):
        p = tree.parents[node]
        inside[node] = inside[p] or (
            tree.names[node].isdigit() and len(tree.children[p]) > 1 and not tree.is_leaf(node) and p > 0
        )
    count, top = [], []
    for node in range(n):
        use = core_count[node] and not inside[node]
        count.append((1 << 30) + core_count[node] if use else all_count[node])
        top.append(core_top[node] if use else all_top[node])
    return count, top


def _any_below(tree, a, links):
    return any(n in links for n in range(a + 1, tree.ends[a]))


def _chain(aligner, ca, cb, leaves):
    if not ca or not cb:
        return []
    n, m = len(ca), len(cb)
    left, right = aligner.left.tree, aligner.right.tree
    items = sorted(leaves.items())
    eb = sorted(leaves.values())
    import bisect

    keys = [a for a, _ in items]

    def jac(u, v):
        mine = items[bisect.bisect_left(keys, u) : bisect.bisect_left(keys, left.ends[u])]
        common = sum(v <= b < right.ends[v] for _, b in mine)
        theirs = bisect.bisect_left(eb, right.ends[v]) - bisect.bisect_left(eb, v)
        return common / max(1, len(mine) + theirs - common)

    val = [[4.0 * jac(u, v) + 0.5 * aligner.own(u, v) for v in cb] for u in ca]
    best = [[0.0] * (m + 1) for _ in range(n + 1)]
    for i in range(n - 1, -1, -1):
        for j in range(m - 1, -1, -1):
            best[i][j] = max(best[i + 1][j], best[i][j + 1], max(val[i][j], 0.01) + best[i + 1][j + 1])
    out = []
    i = j = 0
    while i < n and j < m:
        if max(val[i][j], 0.01) + best[i + 1][j + 1] >= best[i][j] - 1e-9:
            out.append((ca[i], cb[j]))
            i, j = i + 1, j + 1
        elif best[i + 1][j] >= best[i][j + 1]:
            i += 1
        else:
            j += 1
    return out


def _spans(tree, leaves):
    count = [0] * len(tree)
    for n in range(len(tree) - 1, -1, -1):
        count[n] += n in leaves
        if n:
            count[tree.parents[n]] += count[n]
    return count


def _lca(tree, a, b):
    while a != b:
        if tree.depths[a] >= tree.depths[b]:
            a = tree.parents[a]
        else:
            b = tree.parents[b]
    return a


def _lowest(tree, leaves, other):
    top = [None] * len(tree)
    for n in range(len(tree) - 1, -1, -1):
        if n in leaves:
            own = leaves[n]
            top[n] = own if top[n] is None else _lca(other, top[n], own)
        if n and top[n] is not None:
            p = tree.parents[n]
            top[p] = top[n] if top[p] is None else _lca(other, top[p], top[n])
    return top
