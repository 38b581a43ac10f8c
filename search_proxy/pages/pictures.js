/** A shopper's pictures: made small before they leave the device, and shown without an address of their own. */

export const MAX_PICTURES = 5;
/** The server looks at no more pixels than these. */
const SENT_SIDE = 1024;
const KEPT_SIDE = 240;

/** @typedef {{ sent: string, kept: string }} Picture base64 of two JPEGs; only the small one outlives a reload */

/**
 * Makes a picture small; position data and everything else that a camera writes beside the pixels stays behind.
 * @param {Blob} file
 * @returns {Promise<Picture | null>} null for a file that is no picture
 */
export async function readPicture(file) {
  let bitmap;
  try {
    bitmap = await createImageBitmap(file);
  } catch {
    return null;
  }
  const picture = { sent: encoded(bitmap, SENT_SIDE, 0.85), kept: encoded(bitmap, KEPT_SIDE, 0.7) };
  bitmap.close();
  return picture;
}

/** @param {DataTransfer | null} data what was dropped or pasted */
export function picturesIn(data) {
  return [...(data?.files ?? [])].filter((file) => file.type.startsWith("image/"));
}

/** Returns whether a drag carries files; what kind they are is only told when they are dropped. */
export function carriesFiles(event) {
  return [...(event.dataTransfer?.types ?? [])].includes("Files");
}

/**
 * Draws a kept picture. A canvas needs no image address, so the page's policy can stay as narrow as it is.
 * @param {string} kept
 */
export function thumbnail(kept) {
  const canvas = document.createElement("canvas");
  canvas.className = "thumb";
  canvas.width = canvas.height = 1;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", "Your picture");
  const bytes = Uint8Array.from(atob(kept), (character) => character.charCodeAt(0));
  createImageBitmap(new Blob([bytes], { type: "image/jpeg" })).then(
    (bitmap) => paint(canvas, bitmap, KEPT_SIDE),
    () => canvas.remove(),
  );
  return canvas;
}

function encoded(bitmap, side, quality) {
  const canvas = document.createElement("canvas");
  paint(canvas, bitmap, side);
  return canvas.toDataURL("image/jpeg", quality).split(",")[1];
}

function paint(canvas, bitmap, side) {
  const scale = Math.min(1, side / Math.max(bitmap.width, bitmap.height));
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  const context = canvas.getContext("2d");
  // A transparent picture would turn black as a JPEG.
  context.fillStyle = "#fff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
}
