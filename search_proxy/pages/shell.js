/** What stands around every view: the search box, the links at the top, the filter button, keys, and drops. */

import { addressOf } from "./state.js";
import { carriesFiles, picturesIn } from "./pictures.js";

export const filterButton = document.getElementById("filter-toggle");

/**
 * @param {{ onsearch: (q: string) => void, onhome: () => void, onchat: () => void,
 *   onpictures: (files: File[]) => void }} options
 */
export function wireShell({ onsearch, onhome, onchat, onpictures }) {
  const box = document.getElementById("q");
  const side = document.getElementById("facets");
  box.form.addEventListener("submit", (event) => {
    event.preventDefault();
    const q = box.value.trim();
    if (!q) return;
    box.blur();
    onsearch(q);
  });
  for (const link of document.querySelectorAll("a[data-query]")) {
    follow(link, addressOf({ q: link.dataset.query }), () => onsearch(link.dataset.query));
  }
  follow(document.getElementById("home"), addressOf({}), () => (onhome(), box.focus()));
  follow(document.getElementById("chat-link"), addressOf({ view: "chat" }), onchat);
  filterButton.addEventListener("click", () => {
    const open = side.classList.toggle("facets-open");
    filterButton.setAttribute("aria-expanded", String(open));
    filterButton.textContent = open ? "Show results" : "Filter";
    if (open) side.querySelector("input")?.focus({ preventScroll: true });
    scrollTo({ top: 0, behavior: "instant" });
  });
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.closest("input, select, textarea, dialog")) return;
    event.preventDefault();
    box.focus();
    box.select();
  });
  takeDrops(onpictures);
}

function follow(link, address, act) {
  link.href = address;
  link.addEventListener("click", (event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button) return;
    event.preventDefault();
    act();
  });
}

/** A picture dropped anywhere is a question to the chat; a browser by itself would leave the page for it. */
function takeDrops(onpictures) {
  const leave = () => document.body.classList.remove("dropping");
  addEventListener("dragover", (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    document.body.classList.add("dropping");
  });
  addEventListener("dragleave", (event) => event.relatedTarget || leave());
  addEventListener("drop", (event) => {
    leave();
    if (!carriesFiles(event)) return;
    event.preventDefault();
    const files = picturesIn(event.dataTransfer);
    if (files.length) onpictures(files);
  });
}
