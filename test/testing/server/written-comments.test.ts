import { afterEach, expect, it, vi } from 'vitest';
import { writeTested } from '../../../src/testing/server/as-file.js';
import { SCRATCH } from './mutants.js';
import { type ServerWanted, testModelServer } from './virtual-server.js';

/* What the file of an tested server says of quantities that are refused, and of what was not tried. */

afterEach(() => {
  vi.unstubAllGlobals();
});

async function written(wanted: ServerWanted): Promise<string> {
  const { serverTest } = await testModelServer({
    ...wanted,
    order: { checks: ['refusals'], survey: [[0, 99]], ...wanted.order },
  });
  return writeTested(serverTest) ?? '';
}

const refuses = (code: number, quantity: number | string, exception: number) => ({
  when: { function: code, quantity },
  do: [{ exception }],
});

it('a quantity that is refused with another exception is said by a rule, and by no comment', async () => {
  const text = await written({ faults: [refuses(3, 0, 4)] });
  expect(text).toMatch(/wrong-quantity-\d,[\s\S]*quantity: 0}[\s\S]*exception: 4/);
  expect(text).not.toContain('fc03-quantity-0: not reproduced');
});

it('two ways to refuse bits beyond 2000 are parted where the server parts them', async () => {
  const text = await written({ faults: [refuses(1, '2001-2023', 2), refuses(1, '2024-2040', 4)] });
  expect(text).toContain('quantity: "2001-2023"');
  expect(text).toContain('quantity: "2024-2040"');
  expect(text).not.toMatch(/quantity: 2041/);
});

it('quantities that nobody asked for are named', async () => {
  const text = await written({ faults: [refuses(1, '2041-65535', 2)] });
  expect(text).toContain('coils: quantities above 2041 were not tried, and are refused here like 2041');
  expect(text).not.toContain('quantity: 2001');
});

it('functions that write are named where they were not tried, and addresses that nobody wrote to', async () => {
  const text = await written({});
  expect(text).toContain(
    'functions that were not tried, because they write and need --scratch: 5, 6, 15, 16',
  );
  expect(text).toContain(
    'Addresses outside --scratch are marked read-only because writing them was not tried',
  );
  vi.unstubAllGlobals();
  expect(await written({ order: { checks: [], scratch: SCRATCH } })).not.toContain(
    'functions that were not tried',
  );
});
