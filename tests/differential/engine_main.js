// Reads one case a line, {data, decisions}, and answers with the file that the page would save after each decision.
"use strict";
const engine = require("../../suggest/page/engine.js");
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { data, decisions } = JSON.parse(line);
  const npu = engine.unfold(data.npu), bench = engine.unfold(data.bench);
  let lines = engine.linesOf(data);
  const texts = [engine.saved(data, npu, bench, lines)];
  for (const decision of decisions) {
    lines = engine.decide(npu, bench, lines, [decision]);
    texts.push(engine.saved(data, npu, bench, lines));
  }
  const landing = engine.land(npu, bench, engine.rulesOf(lines));
  const places = {};
  for (let node = 1; node < npu.length; node++) places[engine.pathOf(npu, node)] = landing.scopes[node];
  process.stdout.write(JSON.stringify({ texts, places }) + "\n");
});
