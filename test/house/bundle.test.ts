import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { METER, VIRTUAL_LINE } from '../cli/verbs/plant.js';
import { run, scratchSpace } from '../cli/verbs/run.js';
import { dist, startProgram } from '../support/program.mjs';

/* What holds for the built program and can't be seen in its sources. */

const { newDirectory } = scratchSpace();

/** The discard port, on which nobody listens. */
const NOBODY = 9;

/** What comes first from a line after a request for registers 0 to 2 of unit 1. */
function asked(program: Awaited<ReturnType<typeof startProgram>>, line: string): Promise<string> {
  const socket = connect(program.tcpPort(line), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.write(Buffer.from('000100000006010300000003', 'hex'));
  return new Promise((resolve, reject) => {
    socket.once('data', (reply) => resolve(reply.toString('hex'))).once('error', reject);
    void program.exited.then(() => reject(new Error(`it has ended: ${program.output.stderr}`)));
  });
}

it('reaches lines, real devices and a broker by name, a serial port, and shows console and metrics', async () => {
  const units = { 1: 'meter' };
  const plant = await startProgram({
    config: {
      devices: METER,
      lines: { lan: { tcp: { host: 'localhost', port: 0 }, units }, bench: { ...VIRTUAL_LINE } },
    },
  });
  onTestFinished(() => void plant.stop());
  const program = await startProgram({
    config: {
      devices: {
        byName: { real: { tcp: { host: 'localhost', port: plant.tcpPort('lan') } } },
        byPort: { real: { serial: { path: plant.serialPath('bench'), baudRate: 9600, parity: 'none' } } },
      },
      lines: {
        lan: { tcp: { port: 0 }, units: { 1: 'byName' } },
        serial: { tcp: { port: 0 }, units: { 1: 'byPort' } },
      },
      mqtt: { url: `mqtt://localhost:${NOBODY}` },
    },
  });
  onTestFinished(() => void program.stop());
  const reply = '000100000009010306000100020003';
  expect(await asked(program, 'lan')).toBe(reply);
  expect(await asked(program, 'serial')).toBe(reply);
  await expect.poll(() => program.output.stderr).toContain(`localhost:${NOBODY}`);
  for (const [path, text] of [
    ['/', '<html'],
    ['/metrics', 'modbus_sim_'],
  ] as const)
    expect(await (await fetch(`${program.restUrl()}${path}`)).text()).toContain(text);
  expect(program.output.stderr).not.toContain('REST thread');
});

it('asks a server by name', async () => {
  const { code, stdout, stderr } = await run(['test-server', '--tcp', `localhost:${NOBODY}`], newDirectory());
  expect(stdout + stderr).toContain(`localhost:${NOBODY}: no connection (ECONNREFUSED)`);
  expect(code).toBe(2);
});

/** What the modules of the bundle import, as esbuild writes it, and what packages of CommonJS in it ask for. */
const IMPORT = /\bimport\s*(?:([\w$]+),?)?(?:\*\s*as\s+[\w$]+)?(?:\{([^}]*)\})?\s*from\s*"([^"./][^"]*)"/g;
/** The names that a module takes of a part that it loads late: destructured, or one of them at once. */
const LATE = /(?:\{([^{}]*)\}=)?await import\("\.\/([\w-]+\.js)"\)\)?(?:\.(\w+))?/g;
const ASKED_FOR = /(?:require|import)\("([^"./][^"]*)"\)/g;

describe('what the bundle imports', () => {
  const texts = readdirSync(dist)
    .filter((name) => name.endsWith('.js'))
    .map((name) => readFileSync(join(dist, name), 'utf8'));
  const imports = texts.flatMap((text) =>
    [...text.matchAll(IMPORT)].map(([, all, names = '', from = '']) => ({
      from,
      names: [
        ...(all === undefined ? [] : ['default']),
        ...names.split(',').flatMap((name) => name.trim().split(/\s/)[0] || []),
      ],
    })),
  );

  it('are names that the modules of Node have', async () => {
    const missing = [];
    for (const { from, names } of imports.filter((each) => isBuiltin(each.from))) {
      const module: object = await import(from);
      missing.push(...names.filter((name) => !(name in module)).map((name) => `${from}: ${name}`));
    }
    expect(missing).toEqual([]);
    expect(new Set(imports.map(({ from }) => from)).size).toBeGreaterThan(20);
  });

  it('are names that the parts have', () => {
    const late = texts.flatMap((text) =>
      [...text.matchAll(LATE)].flatMap(([, names = '', part = '', member]) =>
        (member ?? names).split(',').map((name) => ({ part, name: name.trim().split(':')[0] })),
      ),
    );
    const exportsOf = (part: string) => {
      const text = readFileSync(join(dist, part), 'utf8');
      const lists = [...text.matchAll(/\bexport\s*\{([^}]*)\}/g)].flatMap(([, list = '']) => list.split(','));
      const names = lists.map((name) =>
        name
          .trim()
          .split(/\s+as\s+/)
          .at(-1),
      );
      return /\bexport default /.test(text) ? [...names, 'default'] : names;
    };
    // What esbuild makes of a package of CommonJS has a default alone, whatever Node finds in the package itself.
    const missing = late.filter(({ part, name }) => {
      const names = exportsOf(part);
      return name === '' ? names.join() === 'default' : !names.includes(name);
    });
    expect(missing).toEqual([]);
    expect(late.length).toBeGreaterThan(30);
  });

  it('is in Node, or in the packages that are installed with it', () => {
    const asked = texts.flatMap((text) => [...text.matchAll(ASKED_FOR)].map(([, name = '']) => name));
    const outside = [...imports.map(({ from }) => from), ...asked].filter((name) => !isBuiltin(name));
    const { dependencies }: { dependencies: object } = JSON.parse(readFileSync('package.json', 'utf8'));
    const others = [
      // Fastify asks for these where a route has no compilers: src/remote/api/app.ts has them for all routes.
      ...['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler'],
      // The sockets of MQTT take these if somebody has installed them.
      ...['bufferutil', 'utf-8-validate'],
    ];
    expect([...new Set(outside)].sort()).toEqual([...others, ...Object.keys(dependencies)].sort());
  });
});
