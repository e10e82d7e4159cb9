import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pino } from 'pino';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ATTACKS } from '../../scripts/hostile/attacks.mjs';
import { LINES } from '../../scripts/hostile/plant.mjs';
import { optionsOf } from '../../src/cli/command-line/command-line.js';
import { newLocalSimulator } from '../../src/cli/library/local-simulator.js';
import { At } from '../../src/common/schema/at.js';
import { fileFindings } from '../../src/common/schema/findings.js';
import { formatProblems } from '../../src/common/schema/problem.js';
import { atOnce } from '../../src/common/work.js';
import { conditionSchema } from '../../src/device/faults/condition.js';
import { FAULT_KINDS } from '../../src/device/faults/kinds.js';
import { ACTION_NAMES } from '../../src/device/registers/actions.js';
import { checkFile, loadNativeFile } from '../../src/document/load.js';
import { EXTENSIONS } from '../../src/extensions/all.js';
import { AT_DESK } from '../../src/extensions/at-desk.js';
import { FunctionCode } from '../../src/modbus/protocol/function-code.js';
import { isConsolePath, VIEW_NAMES } from '../../src/remote/api/console/paths.js';
import { Simulator } from '../../src/simulator/simulator.js';
import { comparing } from '../../src/simulator/state/reconcile.js';
import { CHECKS, linesFor } from '../../src/testing/checks.js';
import { readScenario } from '../../src/testing/scenario/read-scenario.js';
import { loadOwnConfiguration, loadScenarioFile } from '../../src/testing/scenario/scenario-file.js';
import { nativeSetup } from '../support/configuration.js';

/*
 * The documents are read here, so that a new fault, route, key or option can't be forgotten in them.
 */

const DOCUMENTS = ['README.md', 'CHANGELOG.md', ...readdirSync('docs').map((name) => `docs/${name}`)].filter(
  (path) => path.endsWith('.md'),
);
const text = (path: string) => readFileSync(path, 'utf8');
const configuration = text('docs/configuration.md');
const faults = text('docs/faults.md');

/** The first cells of all rows of tables, without their bars. */
function firstCells(document: string): string[] {
  return [...document.matchAll(/^\|([^|]*)\|/gm)].map(([, cell = '']) => cell.trim());
}

/** Everything between backquotes and in code blocks, where names stand. */
function codeIn(document: string): string {
  return [...document.matchAll(/```[\s\S]*?```|`[^`\n]+`/g)].map(([code]) => code).join('\n');
}

const mentions = (code: string, word: string) => new RegExp(`(?<![\\w-])${word}(?![\\w-])`).test(code);

describe('docs/faults.md', () => {
  it.each(FAULT_KINDS)('has a row for the fault %s', (kind) => {
    const has = firstCells(faults).some((cell) => cell.includes(`\`${kind}: `));
    expect(has, `add a row to the table of docs/faults.md that begins with | \`${kind}: …\` |`).toBe(true);
  });

  it.each(Object.keys(conditionSchema.shape))('has a row for the condition %s', (key) => {
    const has = firstCells(faults).some((cell) => cell.includes(`\`${key}`));
    expect(
      has,
      `add a row to the table of \`when\` in docs/faults.md that begins with | \`${key}: …\` |`,
    ).toBe(true);
  });
});

describe('docs/test-client.md', () => {
  const rows = text('docs/test-client.md').split('\n');

  it.each(CHECKS.map((check) => [check.id, check] as const))('has the row of the check %s', (id, check) => {
    const { group, does, rule } = check;
    const likeIt = CHECKS.find((each) => each.rule === rule);
    const passes = likeIt && likeIt !== check ? `As \`${likeIt.id}\`.` : rule;
    const cells = [`\`${id}\``, group, linesFor(check), does, passes];
    const row = `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
    expect(rows.includes(row), `this is to be the row in docs/test-client.md:\n${row}\n`).toBe(true);
  });

  it('is not alone with the number of checks', () => {
    const said = [...text('README.md').matchAll(/(\d+) checks/g)].map(([, count]) => Number(count));
    expect(said, 'README.md says how many checks there are').toContain(CHECKS.length);
  });

  it('has no row of a check that there is not', () => {
    const [, table = ''] = text('docs/test-client.md').split('## The checks');
    const ids = firstCells(table).flatMap((cell) => /^`(.+)`$/.exec(cell)?.[1] ?? []);
    expect(
      ids,
      'the rows of docs/test-client.md stand in the order of CHECKS in src/testing/checks.ts',
    ).toEqual(CHECKS.map(({ id }) => id));
  });
});

/** The keys of every schema in src/document that is for native files, with those inside. */
async function nativeKeys(): Promise<string[]> {
  const files = readdirSync('src/document', { recursive: true, encoding: 'utf8' }).filter((path) =>
    /native.*schema\.ts$/.test(path),
  );
  const modules = await Promise.all(
    files.map((file): Promise<Record<string, unknown>> => import(join(process.cwd(), 'src/document', file))),
  );
  const schemas = modules
    .flatMap((module) => Object.values(module))
    .filter((each) => each instanceof z.ZodType);
  return [
    ...new Set(schemas.flatMap((schema) => propertiesOf(z.toJSONSchema(schema, { unrepresentable: 'any' })))),
  ];
}

function propertiesOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const own = 'properties' in schema ? Object.keys(schema.properties as object) : [];
  return [...own, ...Object.values(schema).flatMap(propertiesOf)];
}

describe('docs/configuration.md', async () => {
  const keys = await nativeKeys();

  it('has every section and setting of a native file', () => {
    expect(keys).toEqual(expect.arrayContaining(['registers', 'baudRate', 'latency', 'rtsOnSend', 'token']));
    const code = codeIn(configuration + text('docs/adapters.md') + text('docs/mqtt.md'));
    expect(
      keys.filter((key) => !mentions(code, key)),
      'name these in backquotes in docs/configuration.md, docs/adapters.md or docs/mqtt.md',
    ).toEqual([]);
  });

  it.each([...ACTION_NAMES])('explains the register action %s', (action) => {
    const row = configuration.split('\n').find((line) => line.startsWith('| `action`'));
    expect(row).toContain(`\`${action}\``);
  });

  it.each(Object.keys(optionsOf(EXTENSIONS)))('has a row for the option --%s', (option) => {
    const has = firstCells(configuration).some((cell) => cell.includes(`\`--${option}`));
    expect(has, `add a row to docs/configuration.md that begins with | \`--${option}\` |`).toBe(true);
  });
});

/** Method and path of every route, read from Fastify's tree: `GET /api/v1/lines/:name`. */
async function routes(): Promise<string[]> {
  const setup = nativeSetup({
    devices: { meter: { registers: { holding: [{ address: 0 }] } } },
    lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
  });
  const log = pino({ level: 'silent' });
  const { app } = newLocalSimulator(setup, { host: '127.0.0.1' }, log, AT_DESK);
  await app.ready();
  const tree = app.printRoutes({ commonPrefix: false });
  await app.close();
  const parents: string[] = [];
  return [...tree.matchAll(/^([│ ]*)[├└]── (\S+) \((.+)\)$/gm)].flatMap(
    ([, indent = '', part, methods = '']) => {
      const depth = indent.length / 4;
      const path = `${parents[depth - 1] ?? ''}${part}`;
      parents.splice(depth, parents.length, path);
      return methods.split(', ').map((method) => `${method} ${path}`);
    },
  );
}

describe('docs/rest.md', async () => {
  const written = codeIn(text('docs/rest.md') + faults);
  /**
   * Fastify adds HEAD to each GET; under /restapi the other methods only say that it has to be POST. The pages of the
   * console are in docs/console.md.
   */
  const real = (await routes()).filter(
    (route) =>
      !/^HEAD |^(?!POST )\w+ \/restapi\//.test(route) && !isConsolePath(route.replace(/^\w+ |\*$/g, '')),
  );

  it('is compared with the routes that there are', () => {
    expect(real).toEqual(expect.arrayContaining(['GET /healthz', 'POST /api/v1/lines/:name/start']));
  });

  it.each(real)('has %s', (route) => {
    const pattern = route.replace(/:\w+/g, '\\w+');
    expect(
      new RegExp(`^\`${pattern}(?![\\w/])`, 'm').test(written),
      `name \`${route.replace(/:(\w+)/g, (_, name) => name.toUpperCase())}\` in docs/rest.md or docs/faults.md`,
    ).toBe(true);
  });
});

/** Each attack is tried on every line that it fits. */
const attacks = Object.values(LINES).flatMap(({ kind }) =>
  ATTACKS.filter(({ on }) => on.includes(kind)),
).length;

const NUMBERS: Readonly<Record<string, number>> = { nineteen: 19, twenty: 20, 'twenty-one': 21 };

describe('the counts in the documents', () => {
  it.each([
    ['kinds of faults', /(\S+) kinds of faults/g, FAULT_KINDS.length],
    ['function codes', /(\S+) function codes of the specification/g, Object.keys(FunctionCode).length],
    ['attacks', /in (\S+) ways/g, attacks],
  ])('of %s are true', (_, pattern, count) => {
    const said = DOCUMENTS.flatMap((path) =>
      [...text(path).matchAll(pattern)].map(([words, word = '']) => ({ word, place: `${path}: ${words}` })),
    );
    expect(said.length).toBeGreaterThan(0);
    const wrong = said.filter(({ word }) => (NUMBERS[word.toLowerCase()] ?? Number(word)) !== count);
    expect(
      wrong.map(({ place }) => place),
      `these are to say ${count}`,
    ).toEqual([]);
  });
});

describe('CHANGELOG.md', () => {
  it('has one line for each change', () => {
    const others = text('CHANGELOG.md')
      .split('\n')
      .filter((line) => !/^(?:- |#|$|All notable changes)/.test(line));
    expect(others, 'join these to the line of their entry').toEqual([]);
  });
});

describe('the commands in the documents', () => {
  // On a Raspberry Pi the package is installed, which has the command.
  const others = ['CHANGELOG.md', 'docs/raspberry-pi.md'];

  it.each(DOCUMENTS.filter((path) => !others.includes(path)))('of %s work in a clone', (path) => {
    const wrong = [
      ...text(path).matchAll(
        /(?:^|\$ |`)(?:npx )?modbus-sim (?:(?:check|catalogue|clone|extcap|fleet|fuzz|import|learn|measure|monitor|ports|schema|test-client|test-server|test|view) |--)/gm,
      ),
    ];
    expect(wrong.map(([command]) => command)).toEqual([]);
  });
});

/** Every file and folder of the checkout that documents may name, with a slash before and behind folders. */
const places = [
  'src',
  'test',
  'docs',
  'scripts',
  'bench',
  'catalogue',
  'examples',
  'packaging',
  'systemd',
  'udev',
].flatMap((root) => [
  `/${root}/`,
  ...readdirSync(root, { recursive: true, withFileTypes: true }).map(
    (entry) => `/${entry.parentPath}/${entry.name}${entry.isDirectory() ? '/' : ''}`,
  ),
]);

describe('the files that documents name', () => {
  /** What a newcomer gives a name, and what a build makes. */
  const made = /NAME|\bID\b|^build\//;

  it.each(DOCUMENTS.filter((path) => path !== 'CHANGELOG.md'))('exist: %s', (path) => {
    const words = [...text(path).matchAll(/`([^`\n]+)`/g)].flatMap(([, code = '']) => code.split(' '));
    const named = words.filter(
      (word) =>
        /^(src|test|docs|scripts|bench|catalogue|examples|packaging|systemd|udev)\/[\w./-]+$|^\w[\w./-]*(\.ts|\/)$/.test(
          word,
        ) && !made.test(word),
    );
    const missing = named.filter(
      (word) => !places.some((place) => place.endsWith(`/${word}`) || place.endsWith(`/${word}/`)),
    );
    expect(missing).toEqual([]);
  });

  it.each(DOCUMENTS)('exist behind the links of %s', (path) => {
    const links = [...text(path).matchAll(/\]\(([^)#:\s]+)(?:#[^)\s]*)?\)/g)].map(([, link = '']) => link);
    expect(links.filter((link) => !existsSync(join(dirname(path), link)))).toEqual([]);
  });
});

/** The blocks of YAML, without the indentation of a list that they stand in. */
function yamlBlocks(document: string): string[] {
  return [...document.matchAll(/^( *)```yaml\n([\s\S]*?)^ *```/gm)].map(([, indent = '', block = '']) =>
    block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  );
}

/** The example of a fault rule is one section of a file. */
const REST_OF_FILE = `
devices: {meter: {registers: {input: [{address: 20, quantity: 2}]}}}
lines: {bench: {serial: {path: virtual}, units: {1: meter}}}
`;

describe('the examples in the documents', () => {
  const directory = mkdtempSync(join(tmpdir(), 'docs-'));
  afterAll(() => rmSync(directory, { recursive: true }));
  cpSync('test/extensions/restapi/meter.json', join(directory, 'setup.json'));
  /** A scenario has a name; a native file has none. */
  const isScenario = (block: string) => /^name:/m.test(block);
  const blocks = DOCUMENTS.flatMap((path) =>
    yamlBlocks(text(path)).map((block, i) => [`${path}, example ${i + 1}`, block] as const),
  );

  const examples = blocks.filter(([, block]) => !isScenario(block));
  const scenarios = blocks.filter(([, block]) => isScenario(block));

  it('are found', () => {
    expect(scenarios.length).toBeGreaterThanOrEqual(1);
    expect(examples.length).toBeGreaterThanOrEqual(4);
  });

  it.each(examples)('%s: check finds no mistake in it', (_, block) => {
    const file = join(directory, 'example.yaml');
    writeFileSync(file, block.startsWith('faults:') ? `${REST_OF_FILE}${block}` : block);
    const checked = checkFile(file, {});
    expect(checked.ok ? '' : formatProblems(file, checked.problems)).toBe('');
    // A service that reads it again finds nothing to change in it, and nothing that needs a restart.
    const [before, after] = [loadNativeFile(file), loadNativeFile(file)];
    if (!before.ok || !after.ok) throw new Error('expected what check has found right');
    expect(Object.values(atOnce(comparing(before.configuration, after.configuration))).flat()).toEqual([]);
  });

  it.each(scenarios)('%s: test finds no mistake in it', (_, block) => {
    const file = join(directory, 'scenario.yaml');
    writeFileSync(file, block);
    expect(mistakesOfScenario(file)).toBe('');
  });

  it('include a scenario that is a file of its own', () => {
    expect(scenarios.map(([, block]) => block)).toContain(text('examples/scenario.yaml'));
  });
});

/** The mistakes of a scenario as the command prints them. */
function mistakesOfScenario(file: string): string {
  const loaded = loadScenarioFile(file, []);
  if (!loaded.ok) return loaded.text;
  const bench = loadOwnConfiguration(loaded.scenario);
  if (!bench.ok) return bench.text;
  const findings = fileFindings();
  const simulator = new Simulator(bench.configuration, pino({ level: 'silent' }));
  readScenario(new At(loaded.scenario.value, findings), simulator);
  return loaded.scenario.format(findings.listed);
}

describe('docs/console.md', () => {
  it.each(VIEW_NAMES)('has a row for the view /%s', (view) => {
    const has = firstCells(text('docs/console.md')).includes(`\`/${view}\``);
    expect(has, `add a row to docs/console.md that begins with | \`/${view}\` |`).toBe(true);
  });
});
