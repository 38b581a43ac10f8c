/** Product cards: the one way in which a product is shown, in grids and in rows. */

import { el } from "./dom.js";

/** Making a formatter costs more than drawing a card. */
const FORMATTERS = new Map();

/** Writes a price in the visitor's own way; a currency that the browser does not know is written out. */
export function priceText(value, currency) {
  if (typeof value !== "number" || !Number.isFinite(value)) return "";
  const formatter = formatterOf(currency, Number.isInteger(value) ? 0 : 2);
  return formatter ? formatter.format(value) : `${value} ${currency ?? ""}`.trim();
}

function formatterOf(currency, digits) {
  const key = `${digits}${currency ?? ""}`;
  if (!FORMATTERS.has(key)) {
    const style = currency ? { style: "currency", currency } : {};
    let made = null;
    try {
      made = new Intl.NumberFormat(navigator.language, { ...style, minimumFractionDigits: digits });
    } catch {
      // The catalog names a currency that is none.
    }
    FORMATTERS.set(key, made);
  }
  return FORMATTERS.get(key);
}

/** Shows a picture, or a quiet square with the first letter where there is none. */
export function picture(hit, eager = false) {
  const title = String(hit.productTitle ?? hit.title ?? "");
  const frame = el("span", { class: "picture" });
  const missing = () => frame.replaceChildren(el("span", { class: "picture-none", text: title.slice(0, 1) || "?" }));
  const source = imageAddress(hit.variantImageUrl);
  if (!source) missing();
  else {
    const loading = eager ? "eager" : "lazy";
    frame.append(
      el("img", { src: source, alt: "", width: 400, height: 400, loading, decoding: "async", onerror: missing }),
    );
  }
  return frame;
}

/**
 * @param {Record<string, any>} hit
 * @param {{ onopen: (hit: Record<string, any>) => void, href: (id: string) => string, eager?: boolean }} options
 */
export function card(hit, { onopen, href, eager }) {
  const title = String(hit.productTitle ?? hit.title ?? hit._id);
  const was = typeof hit.compareAtPrice === "number" && hit.compareAtPrice > hit.price;
  const open = (event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button) return;
    event.preventDefault();
    onopen(hit);
  };
  return el(
    "li",
    { class: "card", "data-id": hit._id },
    el(
      "a",
      { class: "card-link", href: href(String(hit._id)), onclick: open },
      picture(hit, eager),
      el("span", { class: "card-title", text: unbroken(title) }),
      el("span", { class: "card-variant", text: subtitle(hit) }),
      el(
        "span",
        { class: "card-price" },
        el("span", { class: was ? "price price-now" : "price", text: priceText(hit.price, hit.currency) }),
        was && el("s", { class: "price-was", text: priceText(hit.compareAtPrice, hit.currency) }),
        hit.inStock === false && el("span", { class: "sold-out", text: "Sold out" }),
      ),
    ),
  );
}

const EMPTY = el(
  "li",
  { class: "card card-empty", "aria-hidden": "true" },
  el("span", { class: "picture" }),
  el("span", { class: "card-title" }),
  el("span", { class: "card-variant" }),
  el("span", { class: "card-price" }),
);

/** Holds the place of a card that has not come yet. */
export function emptyCard() {
  return EMPTY.cloneNode(true);
}

/** Keeps a number and its unit on one line. */
function unbroken(text) {
  return text.replace(/(\d) (°C|cm|mm|ml|kg|g|l|L|m)(?=\s|$|,)/g, "$1\u00a0$2");
}

function subtitle(hit) {
  const brand = hit.brand && !String(hit.productTitle ?? "").includes(hit.brand) ? String(hit.brand) : "";
  return [brand, hit.variantTitle].filter(Boolean).join(" · ");
}

function imageAddress(value) {
  if (typeof value !== "string" || !value) return "";
  try {
    const address = new URL(value, location.href);
    return address.protocol === "https:" || address.origin === location.origin ? address.href : "";
  } catch {
    return "";
  }
}
