import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { METER } from '../cli/verbs/plant.js';
import { run, scratchSpace } from '../cli/verbs/run.js';
import { dist, startProgram } from '../support/program.mjs';

/* What holds for the built program and can't be seen in its sources. */

const { newDirectory } = scratchSpace();

/** A port of 127.0.0.1 on which nobody listens. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('a name in place of an address', () => {
  it('is looked up for a line, a real device and a broker', async () => {
    const port = await freePort();
    const plant = await startProgram({
      config: {
        devices: METER,
        lines: { lan: { tcp: { host: 'localhost', port: 0 }, units: { 1: 'meter' } } },
      },
    });
    onTestFinished(() => void plant.stop());
    const program = await startProgram({
      config: {
        devices: { meter: { real: { tcp: { host: 'localhost', port: plant.tcpPort('lan') } } } },
        lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
        mqtt: { url: `mqtt://localhost:${port}` },
      },
    });
    onTestFinished(() => void program.stop());
    const socket = connect(program.tcpPort('lan'), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.write(Buffer.from('000100000006010300000003', 'hex'));
    const reply = await new Promise<Buffer>((resolve, reject) => {
      socket.once('data', resolve).once('error', reject);
      void program.exited.then(() => reject(new Error(`it has ended: ${program.output.stderr}`)));
    });
    expect(reply.toString('hex')).toBe('000100000009010306000100020003');
    await expect.poll(() => program.output.stderr).toContain(`localhost:${port}`);
    expect(program.output.stderr).not.toContain('thread of REST');
  });

  it('is looked up for a command', async () => {
    const port = await freePort();
    const { code, stdout, stderr } = await run(['inspect', '--tcp', `localhost:${port}`], newDirectory());
    expect(stdout + stderr).toContain(`localhost:${port}: no connection (ECONNREFUSED)`);
    expect(code).toBe(2);
  });
});

/** What the modules of the bundle import, as esbuild writes it, and what packages of CommonJS in it ask for. */
const IMPORT = /\bimport\s*(?:([\w$]+),?)?(?:\*\s*as\s+[\w$]+)?(?:\{([^}]*)\})?\s*from\s*"([^"./][^"]*)"/g;
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
