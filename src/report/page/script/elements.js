// Making elements. Texts are only ever set as texts, and no element gets a style.

/** The namespace of drawings, which the chart above has. */
const DRAWING = document.querySelector("svg").namespaceURI;

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** An element with attributes, listeners (functions, by the name of the event) and children. */
const el = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);

/** The same of a drawing. */
const draw = (name, attributes, ...children) => fill(document.createElementNS(DRAWING, name), attributes, children);

/** A list to choose from, with its label. */
function choice(label, options, chosen, change) {
  let pointed = false;
  const select = el("select", { pointerdown: () => { pointed = true; }, change: () => {
    // Whoever has opened it with the pointer and chosen, decides by keys from then on. Who has come to it by keys may choose on.
    if (pointed) select.blur();
    pointed = false;
    change(select.value);
  } });
  for (const [value, text] of options) select.append(el("option", { value, selected: value === chosen }, text));
  return el("label", { class: "choice" }, el("span", null, label), select);
}

/** Texts that a screen reader tells when they change. */
const told = (attributes) => el("p", { role: "status", "aria-live": "polite", ...attributes });
