import { writeFileSync } from 'node:fs';

/** Writes a file, over another one only with `force`. @returns why it could not be written, as a sentence */
export function save(path: string, text: string, force: boolean): string | undefined {
  try {
    writeFileSync(path, text, { flag: force ? 'w' : 'wx' });
    return undefined;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return `${path}: ${code === 'EEXIST' ? 'exists; --force overwrites it' : `can't be written: ${message}`}`;
  }
}
