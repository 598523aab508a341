// A mapping file as lines, and edits of its rules: document.py. A document is an array of lines; every edit makes a new
// one. Strings that Python must judge (which characters are printable) come judged, in data.chars.
"use strict";

const documents = (() => {
  const { TOP } = scoping;
  const REVIEWED = "reviewed", FORBIDDEN = "layermap: no";
  const FOR_GRADIENTS = "for parameters_grad, where msprobe doubles the module's name";
  const OWN = new RegExp("^(?:(?:[0-9]\\.[0-9][0-9]|new|[0-9]\\.[0-9][0-9] new)?(?:(?:^| )(?:review(?:: [^\\n]*)?|blocked: " +
    "no counterpart|kept: another rule would move it|fused, covers [^\\n]*|for parameters_grad, [^\\n]*))?|reviewed)$");

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

  function toReview(line) {
    return parts(line).some((part) => /^(?:[0-9]\.[0-9][0-9] )?(?:new )?review(?:$|:)/.test(part));
  }

  function linesOf(data) {
    chars = data.chars;
    return data.lines.map(([kind, head, value, tail, section, key, target]) =>
      ({ kind, head, value, tail, section, key, target }));
  }

  return { REVIEWED, FOR_GRADIENTS, linesOf, textOf, text, parts, forbidden, words, ruledOut, toReview, rulesOf, at, withRule, without, withComment };
})();
