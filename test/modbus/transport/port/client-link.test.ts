import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import {
  createClientLink,
  keepClientLink,
  removeClientLink,
  servingProcess,
} from '../../../../src/modbus/transport/port/client-link.js';
import { openPty } from '../../../../src/modbus/transport/port/pty.js';

let directory: string;
let link: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'client-link-'));
  link = join(directory, 'line');
});
afterEach(() => rmSync(directory, { recursive: true }));

/** A pseudo-terminal number that nobody has. */
const NOBODY = '/dev/pts/1999999';

async function newPty() {
  const opened = await openPty();
  if (!opened.ok) throw new Error(opened.error);
  onTestFinished(opened.pty.close);
  return opened.pty;
}

describe('the link to a virtual line', () => {
  it('leads to its pseudo-terminal, and can be removed', async () => {
    const { path } = await newPty();
    expect(createClientLink(link, path)).toBeUndefined();
    expect(realpathSync(link)).toBe(path);
    removeClientLink(link, path);
    expect(lstatSync(link, { throwIfNoEntry: false })).toBeUndefined();
  });

  it('is made again when somebody removes it, with its directory, while the line is open', async () => {
    const { path } = await newPty();
    const inside = join(directory, 'lines', 'line');
    mkdirSync(join(directory, 'lines'));
    createClientLink(inside, path);
    onTestFinished(keepClientLink(inside, path));
    rmSync(join(directory, 'lines'), { recursive: true });
    await expect.poll(() => existsSync(inside) && realpathSync(inside)).toBe(path);
  });

  it('takes the place of one that a killed program left behind', async () => {
    const { path } = await newPty();
    expect(createClientLink(link, NOBODY)).toBeUndefined();
    expect(createClientLink(link, path)).toBeUndefined();
    expect(realpathSync(link)).toBe(path);
  });

  it('takes the place of one whose pseudo-terminal somebody else got later', async () => {
    const free = await newPty();
    expect(createClientLink(link, free.path)).toBeUndefined();
    // A client that changes the terminal makes it younger than the link, as a new terminal of that number would be.
    // The times of a terminal are those of the last tick of the kernel, which may be before the link.
    do await once(spawn('chmod', ['620', free.path]), 'close');
    while (statSync(free.path).ctimeMs <= lstatSync(link).ctimeMs);
    const { path } = await newPty();
    expect(createClientLink(link, path)).toBeUndefined();
    expect(realpathSync(link)).toBe(path);
  });

  it('leaves one alone that leads to a line that is being served, and names the process', async () => {
    const [served, other] = [await newPty(), await newPty()];
    expect(createClientLink(link, served.path)).toBeUndefined();
    expect(createClientLink(link, other.path)).toBe(
      `${link}: points to a line that process ${process.pid} serves, so it is not replaced; stop that process first or choose another name`,
    );
    expect(realpathSync(link)).toBe(served.path);
    expect(servingProcess(link)).toBe(process.pid);
  });

  it('is not removed when it leads to another line meanwhile', async () => {
    expect(createClientLink(link, NOBODY)).toBeUndefined();
    removeClientLink(link, '/dev/pts/1999998');
    expect(readlinkSync(link)).toContain('1999999');
  });

  it('needs its directory', () => {
    const inside = join(directory, 'new', 'line');
    expect(createClientLink(inside, NOBODY)).toMatch(/the link to the virtual line can't be created: ENOENT/);
    expect(existsSync(join(directory, 'new'))).toBe(false);
  });
});

describe('what somebody else has under the name of the link stays as it is', () => {
  const CASES: [what: string, make: () => void, kept: () => unknown][] = [
    ['a file', () => writeFileSync(link, 'precious'), () => readFileSync(link, 'utf8')],
    ['a directory', () => mkdirSync(link), () => lstatSync(link).isDirectory()],
    [
      'a link to a file',
      () => {
        writeFileSync(join(directory, 'file'), 'precious');
        symlinkSync('file', link);
      },
      () => [readlinkSync(link), readFileSync(link, 'utf8')],
    ],
    ['a link to nothing', () => symlinkSync('/dev/pts/1999999', link), () => readlinkSync(link)],
    ['a link to itself', () => symlinkSync('line', link), () => readlinkSync(link)],
  ];

  it.each(CASES)('%s', (_, make, kept) => {
    make();
    const before = kept();
    expect(createClientLink(link, NOBODY)).toMatch(
      /\/line: exists and is (not a symbolic link|a link that this program did not make), so the virtual line does not replace it/,
    );
    removeClientLink(link, NOBODY);
    expect(kept()).toEqual(before);
  });

  it("another program's link to its own pseudo-terminal, as socat makes it", async () => {
    const { path } = await newPty();
    symlinkSync(path, link);
    expect(createClientLink(link, NOBODY)).toContain('is a link that this program did not make');
    removeClientLink(link, path);
    expect(readlinkSync(link)).toBe(path);
  });
});
