import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';

const SOAK = fileURLToPath(new URL('../../../scripts/soak.mjs', import.meta.url));
const TRANSACTIONS = 100;
const LIMIT_MS = 120_000;

interface LineResult {
  readonly line: string;
  readonly transactions: number;
  readonly lost: number;
  readonly wrong: number;
  readonly early: number;
  readonly strayBytes: number;
}

/** The script that makes more transactions when it is run by hand; whether it ends well must not be the only sign. */
function soak(): Promise<{ exitCode: number; results: LineResult[] }> {
  const args = [SOAK, '--transactions', `${TRANSACTIONS}`, '--json'];
  return new Promise((resolve, reject) => {
    const child = execFile(process.execPath, args, { timeout: LIMIT_MS }, (_error, stdout, stderr) => {
      if (stdout === '') reject(new Error(`the soak printed no results:\n${stderr}`));
      else resolve({ exitCode: child.exitCode ?? -1, results: JSON.parse(stdout) as LineResult[] });
    });
  });
}

describe('a paced line', () => {
  let soaked: Awaited<ReturnType<typeof soak>>;
  beforeAll(async () => {
    soaked = await soak();
  }, LIMIT_MS);

  it.each(['9600-1', '9600-8', '9600-16', '9600-usb', '115200-1', '115200-8', '115200-16', '115200-usb'])(
    'loses nothing, and answers right and never before t3.5, at %s bytes a chunk',
    (line) => {
      expect(soaked.results.find((result) => result.line === line)).toMatchObject({
        transactions: TRANSACTIONS,
        lost: 0,
        wrong: 0,
        early: 0,
        strayBytes: 0,
      });
    },
  );

  it('is soaked by a script that ends with 0 then', () => {
    expect(soaked.exitCode).toBe(0);
  });
});
