import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { claimsTemplate, readClaims } from '../../../src/testing/server/claims.js';
import type { ServerTest } from '../../../src/testing/server/server-test.js';
import { SCRATCH } from './mutants.js';
import { testModelServer } from './virtual-server.js';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'modbus-sim-claims-'));
});

afterEach(() => {
  rmSync(directory, { recursive: true });
  vi.unstubAllGlobals();
});

function claimsOf(text: string) {
  const file = join(directory, 'claims.yaml');
  writeFileSync(file, text);
  return readClaims(file);
}

/** The verdicts on the claims, by their keys. */
async function judged(on: 'tcp' | 'serial', text: string, manners = {}) {
  const claims = claimsOf(text);
  if (!claims.ok) throw new Error(claims.error);
  const { serverTest } = await testModelServer({
    ...{ on, manners },
    order: { claims: claims.value, scratch: SCRATCH, broadcast: true },
  });
  return Object.fromEntries(
    serverTest.findings.flatMap(({ check, verdict }) =>
      check.group === 'claims' && verdict !== 'not-run' ? [[check.id, verdict]] : [],
    ),
  );
}

describe('claims of a maker', () => {
  it.each(['tcp', 'serial'] as const)(
    'hold on the server that their draft was made from, on %s',
    async (on) => {
      const { serverTest } = await testModelServer({ on, order: { scratch: SCRATCH, broadcast: true } });
      const draft = claimsTemplate(serverTest);
      vi.unstubAllGlobals();
      const verdicts = await judged(on, draft);
      expect(new Set(Object.values(verdicts)), draft).toEqual(new Set(['conforms']));
      expect(Object.keys(verdicts).toSorted()).toEqual([
        'claim-bits',
        on === 'serial' ? 'claim-broadcast' : 'claim-connections',
        'claim-exceptions',
        'claim-functions',
        'claim-registers',
        'claim-reply-time',
      ]);
    },
  );

  it('are drafted without exceptions that violate a clause, and the draft names what was not tried', async () => {
    const { serverTest } = await testModelServer({
      faults: [{ when: { function: 3, quantity: 0 }, do: [{ exception: 4 }] }],
      order: { checks: ['refusals'] },
    });
    const draft = claimsTemplate(serverTest);
    const claims = claimsOf(draft);
    expect(claims.ok && claims.value.exceptions, draft).not.toContain(4);
    expect(claims.ok && claims.value.exceptions, draft).toContain(2);
    expect(draft).toContain('Exceptions that violate a clause, left out here: 4.');
    expect(draft).toMatch(/not tried: 5, 6, .*15, 16, .*--scratch/);
  });

  it('are drafted with the time of 99 of 100 replies and a margin, and not with the slowest reply', async () => {
    const { serverTest } = await testModelServer({ order: { checks: ['refusals'] } });
    const times = { least: 1, median: 2, p99: 4.4, most: 569, lost: 0 };
    expect(claimsTemplate({ ...serverTest, times } as ServerTest)).toContain('replyTime: "25ms"');
  });

  it('are violated where they do not hold, and the others are not judged', async () => {
    expect(
      await judged('serial', 'functions: [3, 5, 100]\nexceptions: [1]\nregisters: 60\n', {
        most: { registers: 40 },
        writes: 'multiple',
      }),
    ).toEqual({
      'claim-functions': 'violates',
      'claim-exceptions': 'violates',
      'claim-registers': 'violates',
    });
  });

  it('make a limit that is claimed no violation', async () => {
    const claims = { registers: 40 };
    const { verdict } = await testModelServer({ manners: { most: { registers: 40 } }, order: { claims } });
    expect(verdict('fc03-quantity-125')).toBe('unsupported');
    expect(verdict('claim-registers')).toBe('conforms');
  });

  it('with mistakes are refused with their places', () => {
    const claims = claimsOf('functions: [3, 200]\nregister: 40\nreplyTime: soon\n');
    expect(!claims.ok && claims.error.replaceAll(directory, '')).toMatchInlineSnapshot(`
      "/claims.yaml:1:16: functions[1]: expected a function code from 1 to 127, got 200
      /claims.yaml:2:1: register: unknown key "register", did you mean "registers"? (known: functions, exceptions, registers, bits, connections, broadcast, replyTime)
      /claims.yaml:3:1: replyTime: expected a number of milliseconds from 1 to 60000, or a time such as 250ms, 20s, 5m, 1h, got "soon""
    `);
  });
});
