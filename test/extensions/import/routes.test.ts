import { expect, it } from 'vitest';
import { loadNative } from '../../../src/document/load.js';
import { nativeSetup } from '../../support/configuration.js';
import { startSimulator, stopAfterEach } from '../../support/simulator.js';

/* Devices made of a file, over REST, which changes nothing. */

stopAfterEach();

const SETUP = nativeSetup({
  devices: { meter: { registers: { holding: [{ address: 0 }] } } },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
});
const base64 = (text: string) => Buffer.from(text, 'latin1').toString('base64');

it('shows how a table was understood, and reads it as it is told', async () => {
  const { rest } = await startSimulator(SETUP);
  const content = base64(
    'Adresse;Was;Typ;Notiz\n40001;Z\xe4hler;uint16;a\n40002;Strom;BCD;b\n40004;x;BCD;c\n',
  );
  const first = await rest.send('POST', '/api/v1/import', { file: 'new.csv', content });
  expect(first).toMatchObject({
    status: 200,
    body: {
      what: 'CSV, separated by semicolons, header in line 1',
      notes: [{ location: 'line 3', more: 1 }],
      devices: [
        { name: 'new', unit: 1, entry: { registers: { holding: [{ address: 0 }, {}, { address: 3 }] } } },
      ],
    },
  });
  const { tables } = first.body as { tables: { columns: object[]; rows: string[][] }[] };
  expect(tables[0]?.columns).toMatchObject([
    { header: 'Adresse', role: 'address', meaning: expect.stringContaining('register numbers') },
    { header: 'Was' },
    { header: 'Typ', role: 'type' },
    { header: 'Notiz' },
  ]);
  expect(tables[0]?.rows[0]).toEqual(['40001', 'Zähler', 'uint16', 'a']);
  const columns = { Was: 'name', Typ: 'none' };
  const second = await rest.send('POST', '/api/v1/import', {
    file: 'new.csv',
    content,
    columns,
    base: 'wire',
    table: 'input',
  });
  const { devices, text } = second.body as { devices: { entry: object }[]; text: string };
  expect(devices[0]?.entry).toMatchObject({
    registers: { input: [{ address: 40_001, name: 'Zaehler' }, {}, {}] },
  });
  expect(loadNative(text, '.').ok).toBe(true);
  expect(text).toContain('--column "name=Was" --column "none=Typ" --base wire --table input');
  expect(await rest.send('GET', '/api/v1/devices')).toMatchObject({ body: { devices: [{ name: 'meter' }] } });
});

it('shows the table of which it understands nothing, so that one can say what its columns hold', async () => {
  const { rest } = await startSimulator(SETUP);
  const content = base64('Kennung;Was\nx1;a\nx2;b\n');
  const { status, body } = await rest.send('POST', '/api/v1/import', { file: 'new.csv', content });
  expect({ status, body }).toMatchObject({
    status: 200,
    body: {
      problem: expect.stringContaining('expected a CSV file whose header has a column "address"'),
      devices: [],
      tables: [
        {
          line: 1,
          columns: [{ header: 'Kennung' }, { header: 'Was' }],
          rows: [
            ['x1', 'a'],
            ['x2', 'b'],
          ],
        },
      ],
    },
  });
});

it.each([
  [
    'a workbook',
    'a.csv',
    'PK\x03\x04',
    'a.csv is a workbook (.xlsx) or another archive; save the sheet with the registers as CSV',
  ],
  ['bytes that are no text', 'a.csv', 'ab\0c', 'a.csv is not a text file'],
  ['nothing', 'a.bin', '', "a.bin the kind of file can't be recognised from its content"],
  ['too much', 'a.csv', 'x'.repeat(4 * 1024 * 1024 + 1), 'a.csv has more than 4194304 bytes'],
])('refuses %s in a sentence', async (_, file, text, error) => {
  const { rest } = await startSimulator(SETUP);
  const refused = await rest.send('POST', '/api/v1/import', { file, content: base64(text) });
  expect(refused).toMatchObject({
    status: 400,
    body: { code: 'import.unusable', error: expect.stringContaining(error) },
  });
});

it('refuses what is longer still, and what is no base64', async () => {
  const { rest } = await startSimulator(SETUP);
  const send = (content: string) => rest.send('POST', '/api/v1/import', { file: 'a.csv', content });
  expect(await send('A'.repeat(6 * 1024 * 1024))).toMatchObject({ status: 413 });
  expect(await send('~')).toMatchObject({ status: 400, body: { error: expect.stringContaining('base64') } });
});

it('gives devices of a thousand registers, which are added as they are', async () => {
  const { rest } = await startSimulator(SETUP);
  const rows = Array.from({ length: 1000 }, (_, i) => `${i};value ${i};uint16;V\n`);
  const content = base64(`Address;Name;Type;Unit\n${rows.join('')}`);
  const { body } = await rest.send('POST', '/api/v1/import', { file: 'large.csv', content });
  const [{ name, entry }] = (body as { devices: [{ name: string; entry: object }] }).devices;
  const added = await rest.send('POST', '/api/v1/devices', { name, ...entry });
  expect(added).toMatchObject({ status: 201, body: { tables: { holding: 1000 } } });
});
