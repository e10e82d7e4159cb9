import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { PLAYED, WORLD } from '../../../scripts/hostile/document-world.mjs';
import { requestsOf } from '../../../scripts/hostile/requests.mjs';
import { Commands } from '../../../src/remote/mqtt/commands.js';
import { COMMANDS } from '../../../src/remote/rpc/declared.js';
import { LocalRpc } from '../../../src/remote/rpc/local-rpc.js';
import { type Declared, inputSchema } from '../../../src/simulator/commands/declared.js';
import { Simulator } from '../../../src/simulator/simulator.js';
import { newTestContext } from '../../../src/testing/commands.js';
import { nativeSetup } from '../../support/configuration.js';
import { tries } from '../../support/tries.js';

const SILENT = pino({ level: 'silent' });

/** What a command takes, in the form of a document of REST, for what makes requests of one. */
const DOCUMENT = {
  components: { schemas: {} },
  paths: Object.fromEntries(
    Object.entries<Declared>(COMMANDS).map(([name, declared]) => {
      const schema = z.toJSONSchema(inputSchema(declared), {
        io: 'input',
        unrepresentable: 'any',
        reused: 'inline',
      });
      return [
        name,
        { post: { parameters: [], requestBody: { content: { 'application/json': { schema } } } } },
      ];
    }),
  ),
};

/** Requests after which the simulator begins anew, because most of what there was is gone. */
const ROUND = 60;

it.each([1, 2, 3])(
  'any input of any command ends in an answer that JSON has, or in a refusal with a code: seed %i',
  async (seed) => {
    const next = requestsOf(DOCUMENT, WORLD, seed);
    const seen = new Set<string>();
    for (let round = 0; round < Math.ceil(tries(2000) / ROUND); round++) {
      const directory = mkdtempSync(join(tmpdir(), 'any-input-'));
      const context = newTestContext(new Simulator(nativeSetup(PLAYED, directory), SILENT), SILENT);
      await context.simulator.start();
      const answers: string[] = [];
      const commands = new Commands(new LocalRpc(context), {
        authority: 'all',
        bench: 'b',
        publish: ({ payload }) => void answers.push(String(payload)),
      });
      try {
        for (let i = 0; i < ROUND; i++) {
          const { path, body = '{}' } = next();
          const payload = Buffer.from(body);
          await commands
            .arrived(path, {
              topic: path,
              payload,
              isRetained: false,
              responseTopic: 'modbus-sim/test',
              correlation: undefined,
            })
            .catch((error: Error) => expect.fail(`${path} ${body}: ${error.stack}`));
          const answer = JSON.parse(answers.pop() ?? '');
          seen.add(answer.code ?? path);
          expect(answer, `${path} ${body}`).toHaveProperty(answer.ok ? 'value' : 'code');
          expect(answer.code, `${path} ${body}: ${JSON.stringify(answer)}`).not.toBe('request.failed');
        }
      } finally {
        void context.runs.stopAll();
        await context.simulator.stop();
        rmSync(directory, { recursive: true });
      }
    }
    // Names of commands that were carried out, and codes of refusals.
    expect(seen.size).toBeGreaterThan(30);
  },
);
