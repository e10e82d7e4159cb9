import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/**
 * The process that has the master side of a pseudo-terminal open: Linux shows its number in fdinfo (proc(5),
 * `tty-index`). Undefined when there is none, or when it belongs to another user, whose descriptors are hidden.
 * @param path the client's side, `/dev/pts/3`
 */
export function masterHolder(path: string): number | undefined {
  const index = new RegExp(`^tty-index:\\s*${path.slice(path.lastIndexOf('/') + 1)}$`, 'm');
  return numbersIn('/proc').find((pid) =>
    numbersIn(`/proc/${pid}/fd`).some((fd) => {
      try {
        return (
          readlinkSync(`/proc/${pid}/fd/${fd}`).endsWith('/ptmx') &&
          index.test(readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'utf8'))
        );
      } catch {
        return false; // closed meanwhile
      }
    }),
  );
}

/** Processes end and hide while they are looked at. */
function numbersIn(directory: string): number[] {
  try {
    return readdirSync(directory).map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}
