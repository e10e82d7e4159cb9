import {
  lstat,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  type Stats,
  statSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { dirname } from 'node:path';

/*
 * The symbolic link through which clients find a virtual line. Another program may use the same name, so our
 * links carry a mark: they are spelt `/dev/./pts/3`, which the kernel resolves to `/dev/pts/3`, and which no
 * person would type. The mark is part of the link, so it can neither get lost nor outlive the link.
 */

const PLAIN = '/dev/pts/';
const MARKED = '/dev/./pts/';

/**
 * Points `link` at the client side of a pseudo-terminal. Replaces only a link that an earlier run of this
 * program left behind. The directory of the link must exist.
 * @param target `/dev/pts/3`
 * @returns the error message
 */
export function createClientLink(link: string, target: string): string | undefined {
  try {
    const present = lstatSync(link, { throwIfNoEntry: false });
    if (present === undefined) symlinkSync(marked(target), link);
    else return refusal(link, present) ?? replace(link, target);
    return undefined;
  } catch (error) {
    return `${link}: the link to the virtual line can't be created: ${(error as Error).message}`;
  }
}

/** How often to check that a link exists, in ms. */
const LOOK = 1000;

/**
 * Restores the link if it or its directory was removed, because clients reconnect through it. Anything that
 * another program put in its place is left alone.
 * @returns a function that stops this
 */
export function keepClientLink(link: string, target: string): () => void {
  let isKept = true;
  const look = setInterval(() => {
    lstat(link, (error) => {
      if (!isKept || error?.code !== 'ENOENT') return;
      try {
        mkdirSync(dirname(link), { recursive: true, mode: 0o755 });
      } catch {
        // Whatever blocks the directory may disappear later.
        return;
      }
      createClientLink(link, target);
    });
  }, LOOK).unref();
  return () => {
    isKept = false;
    clearInterval(look);
  };
}

/** Removes the link if it still points to this pseudo-terminal. */
export function removeClientLink(link: string, target: string): void {
  try {
    if (readlinkSync(link) === marked(target)) unlinkSync(link);
  } catch {
    // The link is already gone.
  }
}

/**
 * Returns the ID of the process that serves the line behind `link`; undefined if no line is served there, or
 * its process is hidden.
 */
export function servingProcess(link: string): number | undefined {
  const target = targetOf(link);
  return target === undefined ? undefined : masterHolder(target);
}

function marked(target: string): string {
  return target.replace(PLAIN, MARKED);
}

/** Returns the pseudo-terminal that one of our links points to; undefined for anything else. */
function targetOf(link: string): string | undefined {
  try {
    const text = readlinkSync(link);
    return text.startsWith(MARKED) ? text.replace(MARKED, PLAIN) : undefined;
  } catch {
    return undefined;
  }
}

function refusal(link: string, present: Stats): string | undefined {
  if (targetOf(link) === undefined) {
    const kind = present.isSymbolicLink() ? 'a link that this program did not make' : 'not a symbolic link';
    return `${link}: exists and is ${kind}, so the virtual line does not replace it; choose another name or remove it`;
  }
  if (!isServed(link, present)) return undefined;
  const pid = servingProcess(link);
  const server = pid === undefined ? 'another process serves' : `process ${pid} serves`;
  return `${link}: points to a line that ${server}, so it is not replaced; stop that process first or choose another name`;
}

/**
 * Reports whether a link leads to a line that is being served. The link of a killed program leads nowhere, or
 * to a pseudo-terminal that later got the same number.
 */
function isServed(link: string, itself: Stats): boolean {
  const line = statSync(link, { throwIfNoEntry: false });
  return line !== undefined && line.ctimeMs <= itself.ctimeMs;
}

/** Renames a new link into place, so that a client never finds the name missing. */
function replace(link: string, target: string): undefined {
  const fresh = `${link}.${process.pid}.${target.replaceAll('/', '-')}`;
  symlinkSync(marked(target), fresh);
  try {
    renameSync(fresh, link);
  } catch (error) {
    unlinkSync(fresh);
    throw error;
  }
}

/**
 * Returns the ID of the process that has the master side of a pseudo-terminal open: Linux shows the
 * terminal's number in fdinfo (proc(5), `tty-index`). Undefined if there is no such process, or if it belongs
 * to another user, whose descriptors are hidden.
 * @param path the client side, `/dev/pts/3`
 */
function masterHolder(path: string): number | undefined {
  const index = new RegExp(`^tty-index:\\s*${path.slice(path.lastIndexOf('/') + 1)}$`, 'm');
  return numbersIn('/proc').find((pid) =>
    numbersIn(`/proc/${pid}/fd`).some((fd) => {
      try {
        return (
          readlinkSync(`/proc/${pid}/fd/${fd}`).endsWith('/ptmx') &&
          index.test(readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'utf8'))
        );
      } catch {
        return false; // closed in the meantime
      }
    }),
  );
}

/**
 * Returns the numeric names in a directory; none if it can't be read, because processes exit or hide during
 * the search.
 */
function numbersIn(directory: string): number[] {
  try {
    return readdirSync(directory).map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}
