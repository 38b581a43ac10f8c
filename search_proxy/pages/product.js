/** The product view: one product, large, with its variants and its facts. */

import { picture, priceText } from "./card.js";
import { el, fieldName, fill } from "./dom.js";

const SAID_ELSEWHERE = new Set(
  ("_id _score _found parentProductId productTitle variantTitle variantImageUrl price currency description " +
    "productCollections inStock stock createdAt compareAtPrice rating reviewCount tags occasions colorFamily " +
    "productType department _matched _excerpt _reason").split(" "),
);

/**
 * @param {{ id: string, hit?: Record<string, any>, aisle: import("./aisle.js").Aisle, index: string, session: string,
 *   onask: (question: string) => void, onclose: () => void, onvariant: (id: string) => void }} options
 */
export async function productDialog({ id, hit, aisle, index, session, onask, onclose, onvariant }) {
  const close = el("button", { type: "button", class: "close", "aria-label": "Close", text: "×" });
  const body = el("div", { class: "product" });
  const dialog = el("dialog", { class: "sheet", "aria-labelledby": "product-title" }, close, body);
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => {
    dialog.remove();
    onclose();
  });
  document.body.append(dialog);
  const asking = askingOf(onask);
  const why = typeof hit?._reason === "string" ? hit._reason : "";
  const questions = aisle.suggestions({ index, documentId: id, sessionId: session, userId: session });
  if (hit) show(body, hit, [], { asking, why });
  else fill(body, el("p", { class: "muted", id: "product-title", text: "Loading…" }));
  dialog.showModal();
  const found = await aisle.documents({ index, ids: [id] });
  const product = found.ok && found.value.results?.[0]?._found ? found.value.results[0] : hit;
  if (!product) {
    fill(body, el("p", { id: "product-title", text: "This product is not in the shop any more." }));
    return;
  }
  show(body, product, [], { asking, why });
  questions.then((answer) => asking.offer(answer.ok ? answer.value?.suggestions : []));
  if (!product.parentProductId) return;
  const filter = `parentProductId:(${String(product.parentProductId).replace(/[\\()]/g, "\\$&")})`;
  const attributesToRetrieve = ["variantTitle", "price", "currency", "inStock", "variantImageUrl", "productTitle"];
  const family = await aisle.products({ index, filter, collapse: false, limit: 30, attributesToRetrieve });
  if (family.ok && family.value.hits.length > 1) show(body, product, family.value.hits, { asking, why, onvariant });
}

/** The questions that a shopper may have; their place is kept until they come. */
function askingOf(onask) {
  const ask = el("button", { type: "button", class: "quiet", text: "Ask about this product", onclick: () => onask("") });
  const list = el("ul", { class: "questions", "aria-label": "Questions about this product" });
  return {
    element: el("div", { class: "asking" }, list, ask),
    offer(questions) {
      const texts = (Array.isArray(questions) ? questions : []).map(String);
      const chips = texts.map((text) => el("li", {}, el("button", { type: "button", class: "chip", text, onclick: () => onask(text) })));
      fill(list, ...chips);
      list.classList.add("questions-known");
    },
  };
}

function show(body, product, variants, { asking, why, onvariant }) {
  const stock = product.inStock === false ? "Sold out" : product.stock <= 3 ? `Only ${product.stock} left` : "In stock";
  const rating = typeof product.rating === "number" && `${product.rating.toFixed(1)} of 5 · ${product.reviewCount ?? 0} reviews`;
  const focused = document.activeElement?.getAttribute?.("data-variant");
  fill(
    body,
    el("div", { class: "product-picture" }, picture(product, true)),
    el(
      "div",
      { class: "product-text" },
      el("h2", { id: "product-title", text: product.productTitle ?? product._id }),
      product.variantTitle && el("p", { class: "muted", text: product.variantTitle }),
      el("p", { class: "product-price", text: priceText(product.price, product.currency) }),
      el("p", { class: "muted small", text: [typeof product.inStock === "boolean" && stock, rating].filter(Boolean).join(" · ") }),
      variants.length > 1 && family(product, variants, onvariant),
      product.description && el("p", { class: "product-description", text: product.description }),
      why && el("p", { class: "muted small", text: `Found by: ${why}` }),
      asking.element,
      facts(product),
    ),
  );
  if (focused) body.querySelector(`[data-variant="${CSS.escape(focused)}"]`)?.focus();
}

function family(product, variants, onvariant) {
  const buttons = variants
    .sort((a, b) => String(a._id).localeCompare(String(b._id), undefined, { numeric: true }))
    .map((variant) =>
      el("button", {
        type: "button",
        class: variant.inStock === false ? "chip chip-out" : "chip",
        "data-variant": variant._id,
        "aria-pressed": String(variant._id === product._id),
        text: variant.variantTitle || variant._id,
        onclick: () => onvariant(variant._id),
      }),
    );
  return el("div", { class: "variants", role: "group", "aria-label": "Variants" }, ...buttons);
}

function facts(product) {
  const rows = Object.entries(product)
    .filter(([name, value]) => !SAID_ELSEWHERE.has(name) && ["string", "number", "boolean"].includes(typeof value))
    .map(([name, value]) => {
      const text = typeof value === "boolean" ? (value ? "Yes" : "No") : value.toLocaleString();
      return el("div", {}, el("dt", { text: fieldName(name) }), el("dd", { text }));
    });
  return rows.length > 0 && el("dl", { class: "facts" }, ...rows);
}
