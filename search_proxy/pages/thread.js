/**
 * The chat's thread: what was said and shown, kept by this tab, so that a reload changes nothing.
 *
 * The conversation's id is the right to read it. It therefore never stands in an address, and goes when the tab goes.
 */

/**
 * @typedef {{ q: string, pictures: string[], documentIds: string[], text: string, options: string[], asked: number,
 *   categories: import("./aisle.d.ts").CategoryHits[], receipt: object | null, runId: string, lastId: string,
 *   error: import("./aisle.d.ts").Failure | null, state: "running" | "done" | "stopped" | "failed" }} Turn
 */

const MAX_TURNS = 40;
const KEPT_FIELDS = (
  "_id productTitle title variantTitle variantImageUrl price currency compareAtPrice brand inStock"
).split(" ");

/** Returns the tab's storage, or, where the browser denies it, one that lasts as long as the page. */
export function tabStorage() {
  try {
    return sessionStorage;
  } catch {
    const kept = new Map();
    return {
      getItem: (key) => kept.get(key) ?? null,
      setItem: (key, value) => kept.set(key, value),
      removeItem: (key) => kept.delete(key),
    };
  }
}

/** Returns what the shop may call this visit: it lasts as long as the tab. */
export function sessionId() {
  const storage = tabStorage();
  const id = storage.getItem("aisle-session") ?? `${Math.random()}`.slice(2) + Date.now();
  storage.setItem("aisle-session", id);
  return id;
}

export class Thread {
  /** @param {string} index @param {Pick<Storage, "getItem" | "setItem" | "removeItem">} [storage] */
  constructor(index, storage = tabStorage()) {
    this._key = `aisle-thread:${index}`;
    this._storage = storage;
    this.conversationId = "";
    this.from = "";
    /** @type {Turn[]} */
    this.turns = [];
    this._load();
  }

  /** Begins an empty thread, which may come from a search. */
  begin(from = "") {
    this.clear();
    this.from = from;
  }

  clear() {
    this.conversationId = "";
    this.from = "";
    this.turns = [];
    this._storage.removeItem(this._key);
  }

  /** @returns {Turn} */
  add(q, pictures = [], documentIds = []) {
    const said = { q, pictures, documentIds, text: "", options: [], categories: [], receipt: null, asked: Date.now() };
    const turn = { ...said, runId: "", lastId: "", error: null, state: /** @type {const} */ ("running") };
    this.turns.push(turn);
    this.turns.splice(0, this.turns.length - MAX_TURNS);
    return turn;
  }

  /** Takes a turn out, to ask it again. */
  remove(turn) {
    this.turns = this.turns.filter((other) => other !== turn);
  }

  /** Keeps the thread; where there is no room, the oldest turns go first. */
  save() {
    const slim = this.turns.map((turn) => ({ ...turn, categories: turn.categories.map(slimCategory) }));
    for (;;) {
      try {
        this._storage.setItem(this._key, JSON.stringify({ conversationId: this.conversationId, from: this.from, turns: slim }));
        return;
      } catch {
        if (!slim.length) return;
        slim.shift();
      }
    }
  }

  _load() {
    try {
      const kept = JSON.parse(this._storage.getItem(this._key) ?? "null");
      if (!kept || !Array.isArray(kept.turns)) return;
      this.conversationId = String(kept.conversationId ?? "");
      this.from = String(kept.from ?? "");
      this.turns = kept.turns;
    } catch {
      // What an older page kept in another form is not worth an error.
    }
  }
}

function slimCategory(item) {
  const slim = (hit) => Object.fromEntries(KEPT_FIELDS.filter((name) => name in hit).map((name) => [name, hit[name]]));
  return { ...item, hits: (item.hits ?? []).map(slim) };
}
