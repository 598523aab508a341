// Making elements. Names of modules are set as text, never as markup.
"use strict";

const SAID = {
  sure: "matched", review: "to review", one: "without counterpart", clash: "two on one counterpart", free: "container",
  bench: "without counterpart",
};

const $ = (id) => document.getElementById(id);

function element(tag, attributes = {}, ...children) {
  const found = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") found.textContent = value;
    else if (name === "on") for (const [event, handler] of Object.entries(value)) found.addEventListener(event, handler);
    else if (value !== null && value !== undefined && value !== false) found.setAttribute(name, value === true ? "" : value);
  }
  found.append(...children.filter((child) => child));
  return found;
}
