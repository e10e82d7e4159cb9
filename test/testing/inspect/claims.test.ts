import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { claimsTemplate, readClaims } from '../../../src/testing/inspect/claims.js';
import { SCRATCH } from './mutants.js';
import { inspectServer } from './virtual-server.js';

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
  const { inspection } = await inspectServer({
    ...{ on, manners },
    order: { claims: claims.value, scratch: SCRATCH, broadcast: true },
  });
  return Object.fromEntries(
    inspection.findings.flatMap(({ check, verdict }) =>
      check.group === 'claims' && verdict !== 'not-run' ? [[check.id, verdict]] : [],
    ),
  );
}

describe('claims of a maker', () => {
  it.each(['tcp', 'serial'] as const)(
    'hold on the server that their draft was made from, on %s',
    async (on) => {
      const { inspection } = await inspectServer({ on, order: { scratch: SCRATCH, broadcast: true } });
      const draft = claimsTemplate(inspection);
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
    const { verdict } = await inspectServer({ manners: { most: { registers: 40 } }, order: { claims } });
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
