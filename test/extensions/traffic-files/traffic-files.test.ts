import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TrafficFileDefinition } from '../../../src/document/configuration.js';
import { ndjson, pcapng } from '../../../src/extensions/traffic-files/encoding.js';
import {
  type Disk,
  NumberedFiles,
  TrafficFile,
} from '../../../src/extensions/traffic-files/traffic-files.js';
import { TrafficStream } from '../../../src/simulator/traffic/stream.js';
import { until } from '../../modbus/transport/socket/raw-client.js';
import { frameEvent } from '../../simulator/traffic/events.js';

/** Between two writes; the program writes once a second. */
const INTERVAL_MS = 50;

let directory: string;
let stream: TrafficStream;
let log: { level: number; msg: string }[];
const files: TrafficFile[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'traffic-file-'));
  stream = new TrafficStream({ events: 1000, bytes: 2 ** 20 });
  log = [];
});
afterEach(async () => {
  for (const file of files.splice(0)) await file.stop();
  rmSync(directory, { recursive: true, force: true });
});

function fileOf(change: Partial<TrafficFileDefinition> = {}, disk?: Disk): TrafficFile {
  const definition = { directory, format: 'ndjson', size: 2 ** 20, files: 3, ...change } as const;
  const lines = {
    names: () => ['bench'],
    get: () => ({ name: 'bench', kind: 'serial', describe: () => '' }) as const,
  };
  const encoding = () => (definition.format === 'ndjson' ? ndjson(stream) : pcapng(lines));
  const logger = pino({}, { write: (entry: string) => void log.push(JSON.parse(entry)) });
  const numbered = new NumberedFiles(definition.directory, definition.format, definition.files, disk);
  const file = new TrafficFile(definition, stream, encoding, logger, async () => {}, numbered, INTERVAL_MS);
  files.push(file);
  return file;
}

const happen = (count = 1) => {
  for (let i = 0; i < count; i++) stream.add(stream.lineNumber('bench'), frameEvent('03 0000 0001'));
};
const names = () => readdirSync(directory).sort();
const text = (name: string) => readFileSync(join(directory, name), 'utf8');
const lines = (name: string) =>
  text(name)
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as { seq?: number; kind: string; count?: number });

describe('traffic on disk', () => {
  it('is what happens from the start on, within two seconds, and the rest at the end', async () => {
    happen();
    const file = fileOf();
    expect(await file.start()).toBeUndefined();
    happen(2);
    await until(() => text('traffic-000001.ndjson').length > 0, 'it is written');
    expect(lines('traffic-000001.ndjson').map(({ seq }) => seq)).toEqual([2, 3]);
    happen();
    await file.stop();
    expect(lines('traffic-000001.ndjson').map(({ seq }) => seq)).toEqual([2, 3, 4]);
  });

  it('goes on in new files, of which the oldest go, and none is longer than it may be', async () => {
    writeFileSync(join(directory, 'traffic-000007.ndjson'), '{"seq":1,"line":"bench"}\n');
    writeFileSync(join(directory, 'traffic-000005.ndjson'), 'somebody else has written this');
    writeFileSync(join(directory, 'notes.txt'), 'not ours');
    const size = 20_000;
    const file = fileOf({ size });
    await file.start();
    happen(300);
    await file.stop();
    const others = ['notes.txt', 'traffic-000005.ndjson'];
    const own = names().filter((name) => !others.includes(name));
    expect(own).toHaveLength(3);
    expect(own).not.toContain('traffic-000007.ndjson');
    expect(names()).toEqual(expect.arrayContaining(others));
    for (const name of own) expect(text(name).length).toBeLessThanOrEqual(size);
    const sequence = own.flatMap(lines).map(({ seq }) => seq);
    expect(sequence).toEqual(sequence.map((_, i) => 301 - sequence.length + i));
  });

  it('begins each file of a capture with its header', async () => {
    const file = fileOf({ format: 'pcapng', size: 10_000 });
    await file.start();
    happen(300);
    await file.stop();
    expect(names().length).toBeGreaterThan(1);
    for (const name of names()) {
      expect(readFileSync(join(directory, name)).readUInt32LE(0)).toBe(0x0a0d0d0a);
    }
  });

  it('tells what the stream had given up before it was written', async () => {
    const file = fileOf();
    await file.start();
    happen(1500);
    await file.stop();
    expect(lines('traffic-000001.ndjson')[0]).toMatchObject({ kind: 'left out', count: 500 });
    expect(file.status.missed).toBe(500);
  });

  it('is refused where there is no place for a file', async () => {
    writeFileSync(join(directory, 'file'), '');
    const definition = { directory: join(directory, 'file'), format: 'ndjson', size: 1e6, files: 1 } as const;
    const file = new TrafficFile(
      definition,
      stream,
      () => ndjson(stream),
      pino({ level: 'silent' }),
      async () => {},
    );
    expect(await file.start()).toContain('ENOTDIR');
  });

  it('makes directories, and is refused below /proc', async () => {
    const below = join(directory, 'a/b');
    expect(await fileOf({ directory: below }).start()).toBeUndefined();
    expect(readdirSync(below)).toEqual(['traffic-000001.ndjson']);
    expect(await fileOf({ directory: '/proc/nowhere/below' }).start()).toContain('ENOENT');
  });
});

describe('a file that is taken away while it is written', () => {
  const written = (name: string) => lines(name).flatMap(({ seq }) => seq ?? []);

  it.each([
    ['is removed', (path: string) => rmSync(path)],
    ['is moved by somebody who rotates it', (path: string) => renameSync(path, `${path}.1`)],
    [
      'is another one by now',
      (path: string) => {
        rmSync(path);
        writeFileSync(path, 'not ours');
      },
    ],
    ['goes with its directory', () => rmSync(directory, { recursive: true })],
  ])('is told of, and the traffic goes on in the next one, when it %s', async (_, take) => {
    const file = fileOf();
    await file.start();
    happen(2);
    await until(() => text('traffic-000001.ndjson').length > 0, 'it is written');
    take(join(directory, 'traffic-000001.ndjson'));
    happen(2);
    await until(() => log.length > 0, 'it is noticed');
    await file.stop();
    const next =
      names()
        .filter((name) => /^traffic-\d+\.ndjson$/.test(name))
        .at(-1) ?? '';
    expect(written(next)).toEqual([3, 4]);
    expect(log.map(({ level, msg }) => [level, msg])).toEqual([
      [
        40,
        `${join(directory, 'traffic-000001.ndjson')} was removed or moved: the traffic continues in the next file`,
      ],
    ]);
  });

  it('is a problem of the status while there is no place for the next one', async () => {
    const below = join(directory, 'below');
    const file = fileOf({ directory: below });
    await file.start();
    rmSync(below, { recursive: true });
    writeFileSync(below, 'in the way');
    happen();
    await until(() => file.status.problem !== undefined, 'there is a problem');
    rmSync(below);
    await until(() => file.status.problem === undefined, 'it is written again');
    await file.stop();
    expect(readdirSync(below)).toEqual(['traffic-000001.ndjson']);
    expect(readFileSync(join(below, 'traffic-000001.ndjson'), 'utf8')).toContain('"seq":1');
  });
});

describe('a full disk', () => {
  it('is told once, leaves no half event behind, and is written to again when it has room', async () => {
    let room = 700;
    const disk: Disk = {
      mkdir,
      readdir,
      rm,
      stat,
      async open(path, flags) {
        const handle = await open(path, flags);
        return {
          truncate: (length) => handle.truncate(length),
          stat: () => handle.stat(),
          close: () => handle.close(),
          // Writes what fits, as write(2) does.
          async write(bytes: Uint8Array, start: number, length: number, position: number) {
            const fits = Math.min(length, room);
            if (fits === 0)
              throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
            room -= fits;
            return await handle.write(bytes, start, fits, position);
          },
        } as Awaited<ReturnType<Disk['open']>>;
      },
    };
    const file = fileOf({}, disk);
    await file.start();
    happen(10);
    await until(() => file.status.problem !== undefined, 'the disk is full');
    expect(file.status.problem).toContain('ENOSPC');
    happen(10);
    await new Promise((resolve) => setTimeout(resolve, 10 * INTERVAL_MS));
    expect(text('traffic-000001.ndjson')).toBe('');
    room = 1e6;
    await until(() => file.status.problem === undefined, 'it is written again');
    await file.stop();
    expect(lines('traffic-000001.ndjson').map(({ seq }) => seq)).toEqual(
      Array.from({ length: 20 }, (_, i) => i + 1),
    );
    expect(log.map(({ level, msg }) => [level, msg])).toEqual([
      [50, 'traffic is not being written: ENOSPC: no space left on device'],
      [30, 'traffic is being written again'],
    ]);
  });
});
