import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';

/*
 * ZIP files, as described in PKWARE's APPNOTE.TXT 6.3: for each file a local header and its deflated bytes,
 * followed by the central directory. No file in a package comes near 4 GB, so the 64-bit fields are not
 * needed.
 */

const VERSION = 20;
/** Names are UTF-8. */
const UTF8 = 1 << 11;
const DEFLATED = 8;

/**
 * The time of a file in DOS format: units of 2 seconds, from 1980 on. UTC, so that it is the same everywhere.
 * @param {number} seconds
 */
function dosTime(seconds) {
  const at = new Date(seconds * 1000);
  const time = (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1);
  return (
    (((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate()) * 0x10000 + time
  );
}

/**
 * The bytes of the numbers in a header, little-endian.
 * @param {readonly (readonly [bytes: 2 | 4, value: number])[]} fields
 */
function header(fields) {
  const bytes = Buffer.alloc(fields.reduce((sum, [size]) => sum + size, 0));
  let offset = 0;
  for (const [size, value] of fields) offset = bytes.writeUIntLE(value, offset, size);
  return bytes;
}

/**
 * Makes a ZIP file of all files below a directory. The same files give the same bytes.
 * @param {string} directory
 * @param {string} folder the folder in the ZIP file that contains them
 * @param {number} time of each file, in s since 1970
 */
export function zipOf(directory, folder, time) {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((file) => join(file.parentPath, file.name));
  const parts = [];
  const central = [];
  let offset = 0;
  for (const path of paths.sort()) {
    const content = readFileSync(path);
    const packed = deflateRawSync(content, { level: 9 });
    const name = Buffer.from(`${folder}/${relative(directory, path).replaceAll('\\', '/')}`);
    /** @type {(readonly [2 | 4, number])[]} */
    const common = [
      ...[/** @type {const} */ ([2, VERSION]), /** @type {const} */ ([2, UTF8])],
      ...[/** @type {const} */ ([2, DEFLATED]), /** @type {const} */ ([4, dosTime(time)])],
      ...[/** @type {const} */ ([4, crc32(content)]), /** @type {const} */ ([4, packed.length])],
      ...[/** @type {const} */ ([4, content.length]), /** @type {const} */ ([2, name.length])],
    ];
    const local = header([[4, 0x04034b50], ...common, [2, 0]]);
    // No extra field, comment, disk number and attributes, followed by the position of the local header.
    central.push(
      header([[4, 0x02014b50], [2, VERSION], ...common, [2, 0], [2, 0], [2, 0], [2, 0], [4, 0], [4, offset]]),
      name,
    );
    parts.push(local, name, packed);
    offset += local.length + name.length + packed.length;
  }
  const size = central.reduce((sum, { length }) => sum + length, 0);
  const count = paths.length;
  const end = header([
    [4, 0x06054b50],
    [2, 0],
    [2, 0],
    [2, count],
    [2, count],
    [4, size],
    [4, offset],
    [2, 0],
  ]);
  return Buffer.concat([...parts, ...central, end]);
}
