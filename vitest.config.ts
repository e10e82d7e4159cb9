import { existsSync } from 'node:fs';
import { configDefaults, defineConfig } from 'vitest/config';

const withPeers = process.env.MODBUS_SIM_PEERS === '1';

if (process.env.VITEST && !withPeers && existsSync('test/peers')) {
  process.stderr.write(
    'test/peers left out: it needs the Debian packages mbpoll, libmodbus-dev and tshark. MODBUS_SIM_PEERS=1 runs it.\n',
  );
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...(withPeers ? [] : ['test/peers/**'])],
    // Processes, not threads: serialport in a worker thread can end the whole run with a segmentation fault.
    pool: 'forks',
    // Most tests wait for a line most of the time.
    maxWorkers: 2,
    // Nets for what hangs, and no measure of anything: beside a process that burns every core all takes ten times as
    // long.
    testTimeout: 180_000,
    // Where a run decides, a test that failed is tried once more. .ci/run names each that needed it, and bears few.
    retry: process.env.CI ? 1 : 0,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    coverage: { provider: 'v8', include: ['src/**/*.ts'] },
  },
});
