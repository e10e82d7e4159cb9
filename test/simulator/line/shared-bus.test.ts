import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';

const SOAK = fileURLToPath(new URL('../../../scripts/bus-soak.mjs', import.meta.url));
const TRANSACTIONS = 1000;
const LIMIT_MS = 120_000;

interface BusResult {
  readonly line: string;
  readonly transactions: number;
  readonly own: number;
  readonly broadcasts: number;
  readonly foreign: number;
  readonly late: number;
  readonly crossed: number;
  readonly complaints: readonly string[];
}

/** The script that makes 10,000 transactions when it is run by hand; whether it ends well must not be the only sign. */
function soak(): Promise<{ exitCode: number; results: BusResult[] }> {
  const args = [SOAK, '--transactions', `${TRANSACTIONS}`, '--json'];
  return new Promise((resolve, reject) => {
    const child = execFile(process.execPath, args, { timeout: LIMIT_MS }, (_error, stdout, stderr) => {
      if (stdout === '') reject(new Error(`the soak printed no results:\n${stderr}`));
      else resolve({ exitCode: child.exitCode ?? -1, results: JSON.parse(stdout) as BusResult[] });
    });
  });
}

describe('two units on a bus with a silent device and a slow one', () => {
  let soaked: Awaited<ReturnType<typeof soak>>;
  beforeAll(async () => {
    soaked = await soak();
  }, LIMIT_MS);

  it.each(['115200-1', '115200-8', '115200-16', '115200-usb'])(
    'miss no request, and execute and answer nothing else, at %s bytes a chunk',
    (line) => {
      const result = soaked.results.find((candidate) => candidate.line === line);
      expect(result?.complaints).toEqual([]);
      expect(result).toMatchObject({
        transactions: TRANSACTIONS / 4,
        missed: 0,
        wrong: 0,
        stray: 0,
        wrongImages: 0,
        miscounted: 0,
      });
    },
  );

  it('hear traffic of every kind', () => {
    for (const { own, broadcasts, foreign, late, crossed } of soaked.results) {
      expect(Math.min(own, broadcasts, foreign, late, crossed)).toBeGreaterThan(0);
    }
  });

  it('are soaked by a script that ends with 0 then', () => {
    expect(soaked.exitCode).toBe(0);
  });
});
