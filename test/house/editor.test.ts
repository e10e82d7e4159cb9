import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { editorLine } from '../../src/common/schema/editor-schema.js';
import { EDITOR } from '../support/editor.js';
import { LanguageServer } from '../support/language-server.js';

const DEVICES = 'devices:\n  meter: {registers: {holding: [{address: 0}]}}\n';

describe('an editor with yaml-language-server', () => {
  const server = new LanguageServer();
  const directory = mkdtempSync(join(tmpdir(), 'editor-'));
  const schema = join(directory, 'configuration.json');
  let files = 0;
  beforeAll(async () => {
    writeFileSync(schema, JSON.stringify(EDITOR.configuration()));
    await server.start();
  });
  afterAll(async () => {
    await server.stop();
    rmSync(directory, { recursive: true });
  });

  /** Opens a configuration that names its schema. */
  async function open(text: string) {
    const uri = pathToFileURL(join(directory, `file-${++files}.yaml`)).href;
    return { uri, found: await server.open(uri, editorLine(pathToFileURL(schema).href) + text) };
  }

  /** What is offered at the end of a configuration. */
  async function offered(text: string): Promise<string[]> {
    const { uri } = await open(text);
    const lines = text.split('\n');
    return server.complete(uri, { line: lines.length, character: lines.at(-1)?.length ?? 0 });
  }

  it('completes a line down to the values of its parity', async () => {
    expect(await offered(`${DEVICES}l`)).toEqual(expect.arrayContaining(['lines']));
    expect(await offered(`${DEVICES}lines:\n  bench:\n    `)).toEqual(
      expect.arrayContaining(['serial', 'tcp', 'udp', 'tls', 'units']),
    );
    const port = `${DEVICES}lines:\n  bench:\n    serial:\n      path: virtual\n      `;
    expect(await offered(port)).toEqual(expect.arrayContaining(['baudRate', 'parity', 'stopBits']));
    expect(await offered(`${port}parity: `)).toEqual(['none', 'even', 'odd']);
  });

  it('offers the kinds of a signal', async () => {
    const text =
      'devices:\n  meter:\n    registers:\n      input:\n        - address: 0\n          signal:\n            ';
    expect(await offered(text)).toEqual(expect.arrayContaining(['sine', 'ramp', 'playback']));
  });

  it.each([
    ['a file', ''],
    ['a line', 'lines:\n  bench:\n    '],
    ['a serial port', 'lines:\n  bench:\n    serial:\n      '],
    ['a device', 'devices:\n  meter:\n    '],
    ['a rule', 'faults:\n  - '],
    ['a fault', 'faults:\n  - name: slow\n    do:\n      - '],
    [
      'a signal',
      'devices:\n  meter:\n    registers:\n      input:\n        - address: 0\n          signal:\n            ',
    ],
  ])('offers nothing twice in %s', async (_, text) => {
    const labels = await offered(text);
    expect(labels.filter((label, i) => labels.indexOf(label) !== i)).toEqual([]);
  });

  it('underlines bautRate, and nothing in a line without a mistake', async () => {
    const line = (key: string) =>
      `${DEVICES}lines:\n  bench:\n    serial:\n      path: virtual\n      ${key}: 9600\n    units: {1: meter}\n`;
    expect((await open(line('baudRate'))).found).toEqual([]);
    expect((await open(line('bautRate'))).found).toEqual([
      { text: 'bautRate', message: 'Property bautRate is not allowed.' },
    ]);
  });
});
