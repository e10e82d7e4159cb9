import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/**
 * Reads a regular file. Throws for anything else, such as a pipe or a file that never ends.
 * @param most the maximum size of the file in bytes. From a larger file, at most 64 KiB more are read.
 */
export async function readShort(path: string, most: number): Promise<string> {
  // Without this flag, opening a pipe would block a thread of the pool until another program opens it for
  // writing.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = await file.stat();
    if (stat.isDirectory()) throw Object.assign(new Error('is a directory'), { code: 'EISDIR' });
    if (!stat.isFile()) throw new Error('is not a regular file');
    const pieces: Buffer[] = [];
    let length = 0;
    // A file in /proc has size 0, whatever it contains.
    for await (const piece of file.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>) {
      pieces.push(piece);
      length += piece.length;
      if (length > most) throw new Error(`is too large: more than ${most} bytes`);
    }
    return Buffer.concat(pieces).toString();
  } finally {
    await file.close();
  }
}
