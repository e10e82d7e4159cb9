import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { manPage } from '../../scripts/package/man-page.mjs';
import { librarySignatures } from '../../scripts/types/library.mjs';
import { version } from '../../src/common/package.js';
import { loadConfiguration } from '../../src/document/load.js';
import { MADE_AT_BUILD } from '../../src/remote/api/made.js';
import { brokerFamilies } from '../../src/remote/api/metrics.js';
import { COMMANDS, declaredAs } from '../../src/remote/rpc/declared.js';
import { inputSchema } from '../../src/simulator/commands/declared.js';
import { runHere } from '../cli/verbs/run.js';
import { Rest } from '../remote/api/rest.js';

/*
 * What users build on stands in test/goldens, so that a change of the code that is to change nothing for them shows when it does.
 * `npx vitest run test/house/published.test.ts -u` writes the files anew: a commit that has one of them changes what is published.
 * The codes of refusals are in docs/errors.md, and test/house/errors.test.ts compares those.
 */

const golden = (name: string) => resolve('test/goldens', name);
const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

/** The text of an answer of the REST interface. */
async function answerOf(rest: Rest, url: string): Promise<string> {
  const { statusCode, body } = await rest.app.inject({ url, headers: { host: 'localhost' } });
  expect(statusCode, body).toBe(200);
  return body;
}

function restOf(source: Parameters<typeof loadConfiguration>[0]): Rest {
  const loaded = loadConfiguration(source);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  return new Rest(loaded.configuration);
}

describe('what REST publishes', () => {
  const rest = restOf({ kind: 'demo' });

  it.each(Object.entries(MADE_AT_BUILD))('is as it was: %s', async (file, path) => {
    const made = json(JSON.parse(await answerOf(rest, `/api/v1${path}`)));
    const text = made.replaceAll(`"version": "${version()}"`, '"version": "VERSION"');
    await expect(text).toMatchFileSnapshot(golden(file));
  });

  it('is as it was: names, kinds and meanings of the metrics', async () => {
    const exposition = await answerOf(rest, '/metrics');
    const ours = exposition.split('\n').filter((line) => /^# (HELP|TYPE) modbus_sim_/.test(line));
    const counts = { sent: 0, received: 0, waiting: 0, lost: 0, unreadable: 0, missed: 0 };
    const families = [...brokerFamilies({ topic: '', connected: true, reason: null, since: '', ...counts })];
    const ofBroker = families.flatMap(({ name, help, type }) => [
      `# HELP ${name} ${help}`,
      `# TYPE ${name} ${type}`,
    ]);
    await expect(`${[...ours, ...ofBroker].join('\n')}\n`).toMatchFileSnapshot(golden('metrics.txt'));
  });
});

describe('the configuration that GET /api/v1/configuration answers', () => {
  const examples = readdirSync('examples', { recursive: true, encoding: 'utf8' })
    .filter(
      (path) =>
        path.endsWith('.yaml') &&
        !/(^|\/)(scenario|compose|kubernetes|prometheus)\.yaml$|\/scenarios\//.test(path),
    )
    .sort();
  const sources = [
    ['demo', { kind: 'demo' }],
    ['pymodbus', { kind: 'pymodbus', file: 'test/extensions/restapi/meter.json' }],
    ...examples.map(
      (path) => [path.replace(/\.yaml$/, ''), { kind: 'native', file: join('examples', path) }] as const,
    ),
  ] as const;

  it.each(sources)('is as it was: %s', async (name, source) => {
    const written = await answerOf(restOf(source), '/api/v1/configuration');
    // A counter has gone on since the simulator was made.
    const text = written.replace(`"${process.cwd()}/`, '"DIRECTORY/').replace(/from: [\d.]+/, 'from: COUNT');
    await expect(text).toMatchFileSnapshot(golden(`configuration/${name.replaceAll('/', '-')}.yaml`));
  });
});

it('the commands of MQTT, and what each takes, are as they were', async () => {
  // Their order says nothing: those that are in the file keep theirs.
  const known = Object.keys(JSON.parse(readFileSync(golden('mqtt-commands.json'), 'utf8')) as object);
  const names = new Set([...known.filter((name) => declaredAs(name)), ...Object.keys(COMMANDS)]);
  const commands = [...names].map((name) => {
    const declared = declaredAs(name)!;
    const takes = z.toJSONSchema(inputSchema(declared), { io: 'input', unrepresentable: 'any' });
    return [name, { changes: !declared.kind, takes }] as const;
  });
  await expect(json(Object.fromEntries(commands))).toMatchFileSnapshot(golden('mqtt-commands.json'));
});

describe('the command line', () => {
  it('prints the help that it printed, for each command too', async () => {
    const { stdout } = await runHere(['help', 'all']);
    await expect(stdout).toMatchFileSnapshot(golden('help.txt'));
  });

  it('has the manual page that it had', async () => {
    const { stdout } = await runHere(['help', 'all']);
    const page = manPage(stdout, { version: 'VERSION', date: 'DATE' });
    await expect(page).toMatchFileSnapshot(golden('modbus-sim.1'));
  });
});

it('the library declares what it declared', async () => {
  const declared = librarySignatures();
  expect(declared).toContain(
    'function startSimulator(configuration: Configuration | string): Promise<RunningSimulator>',
  );
  await expect(declared).toMatchFileSnapshot(golden('library.txt'));
});
