/** Builds elements. Everything that came from outside goes in as text or as a checked attribute, never as markup. */

const LONGEST_FRAME_MS = 100;
const LONGEST_IDLE_MS = 300;

/**
 * @param {string} tag
 * @param {Record<string, any>} [attributes] `class`, `text`, `on*` listeners, booleans, or plain attributes
 * @param {...(Node | string | null | undefined | false)} children
 */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "text") {
      element.textContent = value;
      // A page may hold texts of several scripts, whatever its own direction is.
      if (!("dir" in attributes)) element.dir = "auto";
    } else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Replaces everything in an element. */
export function fill(element, ...children) {
  element.replaceChildren(...children.filter(Boolean));
  return element;
}

/** Says something to screen readers, once, without moving anything on the page. */
export function announce(text) {
  const region = document.getElementById("announcer");
  if (region && region.textContent !== text) region.textContent = text;
}

/** Returns whether the visitor asked for less movement. */
export function isCalm() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** Returns once what was drawn is on the screen. A page that nobody sees draws nothing and waits for nothing. */
export function painted() {
  if (document.hidden) return Promise.resolve();
  return new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve));
    // The page may be hidden before the frame comes.
    setTimeout(resolve, LONGEST_FRAME_MS);
  });
}

/** Does what can wait when nothing else is to be done. */
export function whenIdle(act) {
  if (globalThis.requestIdleCallback) requestIdleCallback(act, { timeout: LONGEST_IDLE_MS });
  else setTimeout(act);
}

/** Writes a server's message as a sentence. */
export function sentence(text) {
  const plain = String(text || "something went wrong");
  return plain.charAt(0).toUpperCase() + plain.slice(1) + (/[.!?]$/.test(plain) ? "" : ".");
}

/** Writes `inStock` as "In stock", `comfortTempC` as "Comfort temp (°C)". */
export function fieldName(name) {
  const units = { C: "°C", G: "g", L: "l", Cm: "cm", Mm: "mm", M: "m", Ml: "ml", Kg: "kg", W: "W" };
  const words = name.replace(/([a-z\d])([A-Z])/g, "$1 $2").split(/[\s_]+/);
  const unit = words.length > 1 ? units[words.at(-1)] : undefined;
  const plain = (unit ? words.slice(0, -1) : words).join(" ").toLowerCase();
  return plain.charAt(0).toUpperCase() + plain.slice(1) + (unit ? ` (${unit})` : "");
}
