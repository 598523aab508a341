// What the library does with a mapping and with a reviewer's decisions, ported function by function, so that the page
// saves the very bytes that `suggest.review` would. Nothing here touches the page, so that tests can run it beside Python.
"use strict";

const engine = (() => {
  const { kindOf, hasState } = scoping;
  const { NOWHERE, land } = replaying;
  const { text, textOf, toReview, rulesOf } = documents;

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

  return { ...scoping, ...replaying, ...documents, ...deciding, saved, withCounts };
})();
