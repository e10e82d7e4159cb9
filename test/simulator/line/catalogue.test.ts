import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  findMisbehaviour,
  type Misbehaviour,
  readCatalogue,
  rulesOf,
} from '../../../src/document/catalogue.js';
import { nativeSetup } from '../../support/configuration.js';
import { type RunningSimulator, startSimulator } from '../../support/simulator.js';
import { Master, REGISTERS, ROWS, type Row } from './catalogue-rows.js';

/*
 * Entries of the catalogue on the wire. Each row has a device and a line of its own, and all are played at the same time.
 * docs/catalogue.md is made of the entries and of what was seen.
 */

interface Seen {
  readonly naive: string;
  readonly robust: string | undefined;
}

const seen = new Map<string, Seen>();
const masters: Master[] = [];
let running: RunningSimulator;

beforeAll(async () => {
  running = await startSimulator(nativeSetup(bench()));
  await Promise.all(
    ROWS.map(async ({ id, wire, naive, robust }) => {
      const access = { path: () => running.path(id), port: () => running.port(id) };
      const master = new Master(wire, access);
      masters.push(master);
      seen.set(id, { naive: await naive[1](master), robust: await robust?.[1](master) });
    }),
  );
});

afterAll(async () => {
  await Promise.all(masters.map((master) => master.close()));
  await running.stop();
});

function bench() {
  const faults: object[] = [];
  const devices: Record<string, object> = {
    neighbour: { registers: { holding: [{ address: 0, value: 7 }] } },
  };
  const lines: Record<string, object> = {};
  for (const { id, wire, played } of ROWS) {
    const entry = findMisbehaviour(id);
    if (!entry.ok) throw new Error(entry.error);
    const like = entry.value.line || played ? {} : { like: id };
    devices[id] = { registers: REGISTERS, ...like, ...(played?.manners && { manners: played.manners }) };
    faults.push(...rulesOf({ id, faults: [...(played?.faults ?? [])] }, { device: id }));
    lines[id] = {
      ...transport(wire),
      ...(entry.value.line && { like: id }),
      ...played?.line,
      units: { 1: id, 2: 'neighbour' },
    };
  }
  return { devices, lines, faults };
}

function transport(wire: Row['wire']): object {
  if (wire === 'RTU') return { serial: { path: 'virtual', baudRate: 1200, parity: 'none' } };
  return { tcp: { port: 0 }, ...(wire && { framing: 'rtu' }) };
}

const HEAD = `# What real devices do wrong

Each of these mistakes was reported from the field; the links lead to the reports. To play an entry, you need only one line in a file, one command or
one REST request:

\`\`\`yaml
devices:
  meter: {like: sleeps, registers: {holding: [{address: 0, value: 7}]}}
lines:
  lan: {tcp: {port: 5020}, units: {1: meter}}
\`\`\`

- \`node dist/main.js catalogue\` lists the entries, \`node dist/main.js catalogue sleeps\` explains one, and \`node dist/main.js --misbehave sleeps\` makes all
  devices behave like it.
- \`POST /api/v1/catalogue/sleeps\` with \`{"device": "meter"}\` or \`{"line": "lan"}\` activates an entry while clients are served, completely or not at all;
  \`DELETE /api/v1/catalogue/sleeps\` deactivates it. \`GET /api/v1/catalogue\` returns the whole catalogue.
- In a file, \`like\` adds the manners of the entry unless the device has its own, and its fault rules unless the file has rules with the same names.
- Use \`like\` on a line for an entry about lines, such as \`newcomer-evicts\`. With \`{"device": …}\` it applies to the suitable lines of that device. Its settings
  change the line like a \`PUT\` of the line, which may close connections. When you deactivate the entry, these settings return to their defaults.

Each file of [\`catalogue/\`](../catalogue) is an entry: [how to add one](ADDING_A_MISBEHAVIOUR.md). The facts come from the reports, in our words; none of these devices was
tried here. This page is made by \`npx vitest run test/simulator/line/catalogue.test.ts -u\`.

| a client sees | entry |
| --- | --- |
`;

const cell = (text: string) => text.replaceAll('|', '\\|');
const row = ({ id, title, sees }: Misbehaviour) => `| ${cell(sees)} | [${cell(title)}](#${id}) |\n`;

const chapter = ({ id, title, devices, sources, robust }: Misbehaviour) => `
## ${id}

${title}. A robust client: ${robust[0]?.toLowerCase()}${robust.slice(1)}

${devices.length > 0 ? `Devices: ${devices.join('; ')}.\n\n` : ''}${sources.map(({ url, fact }) => `- [${url.replace(/^https:\/\/(www\.)?(github\.com\/)?/, '')}](${url}): ${fact}\n`).join('')}`;

const ON_THE_WIRE = `
## On the wire

This table shows what the third-party client modbus-serial sees, and what it gets if it behaves like a robust client. Every test run repeats
this. The devices have 10, 11, 12 and 13 in holding registers 0 to 3. The line is Modbus TCP unless a row names another.

| entry | the client | sees | if it | gets |
| --- | --- | --- | --- | --- |
`;

function wireRow({ id, wire, naive, robust }: Row): string {
  const { naive: sees, robust: gets } = seen.get(id) as Seen;
  const how = wire ? `${wire}: ${naive[0]}` : naive[0];
  return `| [${id}](#${id}) | ${how} | ${cell(sees)} | ${robust?.[0] ?? ''} | ${cell(gets ?? '')} |\n`;
}

describe('modbus-serial', () => {
  it.each(ROWS)('sees $id', ({ id, naive, robust }) => {
    expect(seen.get(id)).toEqual({ naive: naive[2], robust: robust?.[2] });
  });
});

it('docs/catalogue.md has every entry, and what was seen', async () => {
  const entries = readCatalogue();
  const page =
    HEAD +
    entries.map(row).join('') +
    ON_THE_WIRE +
    ROWS.map(wireRow).join('') +
    entries.map(chapter).join('');
  await expect(page).toMatchFileSnapshot('../../../docs/catalogue.md');
});
