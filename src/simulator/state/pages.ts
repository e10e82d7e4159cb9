import type { ImageSnapshot, RegisterImage } from '../../device/registers/image.js';
import { isWritableMeta } from '../../device/registers/layout.js';

/** The cells of a page. Registers are kept in pages, and a page without changes is left out. */
const PAGE_CELLS = 256;

/** A page: its number, its words (low byte first) and its access flags (a byte each), both in base64. */
export type ImagePage = readonly [page: number, words: string, flags: string];

/** The pages of an image that differ from the configuration. */
export function* changedPages({ layout, words, meta }: ImageSnapshot): Generator<ImagePage> {
  if (words === layout.words && meta === layout.meta) return;
  for (let first = 0; first < layout.size; first += PAGE_CELLS) {
    const end = Math.min(first + PAGE_CELLS, layout.size);
    if (isSame(words, layout.words, first, end) && isSame(meta, layout.meta, first, end)) continue;
    yield [first / PAGE_CELLS, base64Of(words.subarray(first, end)), flagsOf(meta.subarray(first, end))];
  }
}

/** Restores a page. @returns false, without restoring anything, when the page does not belong to the image */
export function restorePage(image: RegisterImage, [page, words, flags]: ImagePage): boolean {
  const first = page * PAGE_CELLS;
  const cells = Math.min(PAGE_CELLS, image.size - first);
  const [wordBytes, flagBytes] = [Buffer.from(words, 'base64'), Buffer.from(flags, 'base64')];
  if (cells <= 0 || wordBytes.length !== 2 * cells || flagBytes.length !== cells) return false;
  for (let i = 0; i < cells; i++) {
    if (image.typeAt(first + i) === 'invalid') continue;
    image.restore(first + i, wordBytes.readUInt16LE(2 * i), flagBytes[i] !== 0);
  }
  return true;
}

function isSame(one: ArrayLike<number>, other: ArrayLike<number>, first: number, end: number): boolean {
  for (let i = first; i < end; i++) if (one[i] !== other[i]) return false;
  return true;
}

/** Memory has the low byte first on every machine that Node 20 runs on, except IBM's s390x. */
function base64Of(words: Uint16Array): string {
  return Buffer.from(words.buffer, words.byteOffset, words.byteLength).toString('base64');
}

function flagsOf(meta: Uint8Array): string {
  return Buffer.from(meta.map((each) => (isWritableMeta(each) ? 1 : 0))).toString('base64');
}
