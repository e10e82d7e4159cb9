import { existsSync } from 'node:fs';
import { configDefaults, defineConfig } from 'vitest/config';

/*
 * Two tiers. `npm test` runs the projects `quick` and `alone`: every behaviour once. `npm run test:full` runs those whose
 * names begin with `full`: what needs a browser, a whole program for each test, real time, many kinds of attacks, or clients from Debian. .ci/run runs both.
 */

const withPeers = process.env.MODBUS_SIM_PEERS === '1';

if (process.env.VITEST && !withPeers && existsSync('test/peers')) {
  process.stderr.write(
    'test/peers left out: it needs the Debian packages mbpoll, libmodbus-dev, tshark, mosquitto, mosquitto-clients, prometheus, python3-serial, python3-pymodbus, python3-serial-asyncio, buildah, mmdebstrap, socat, zsh and fish. MODBUS_SIM_PEERS=1 runs it.\n',
  );
}

/*
 * Files of a project share three processes, so that modules are loaded three times and not for each file. Those that replace modules or
 * global names for themselves, count what their process has open, or need a process that has loaded no kernel timer, have one of their own.
 */
const ALONE = [
  'test/modbus/transport/port/{kernel-timer,libc,real-port-run,windows}.test.ts',
  'test/modbus/transport/socket/udp-failure.test.ts',
];

/** Those of the full tier: one that replaces global names, two that count what their process has open, and one that fills the buffers of its sockets. */
const FULL_ALONE = [
  'test/remote/api/v1/capture-unread.test.ts',
  'test/remote/web/live.test.ts',
  'test/modbus/transport/socket/hostile.test.ts',
  'test/simulator/line/reconnect.test.ts',
];

const FULL = [
  // The console in Chromium. What it computes is tested without a browser in the other files of test/remote/web.
  'test/remote/web/{breaks,catalogue,connection,conversations,faults,fleet,import,lines,many,panel,past,registers,report,shell,tests}.test.ts',
  'test/remote/web/traffic/traffic.test.ts',
  'test/site/page.test.ts',
  // Waits for a report, which comes every five seconds.
  'test/remote/mqtt/sums-topic.test.ts',
  // One program or more for each test. test/cli/verbs/{start,check,test,usage,demo,pymodbus,desk}.test.ts show that it starts and serves.
  'test/cli/verbs/{access,desk-order,desk-silent,test-client,test-client-remote,free-ports,granted,hostile,test-server,journal,log,log-on-terminal,monitor,nodes,measure,real,service,soak,state,stopping,test-program,tricks,unavailable,unread-output}.test.ts',
  'test/extensions/{clone/verb,extcap/verb,import/hostile,learn/hostile,learn/scenario}.test.ts',
  'test/house/{editor,release}.test.ts',
  // Ports that come and go, and waits in real time.
  'test/simulator/line/{catalogue,echo,faults-real,monitor,paced,robustness,shared-bus}.test.ts',
  'test/testing/measure/measure.test.ts',
  'test/modbus/transport/socket/rtu-over-tcp.test.ts',
  'test/remote/api/v1/waiting-lines.test.ts',
  // Thousands of attacks, and hundreds of client tests in virtual time.
  'test/modbus/transport/socket/udp-hostile.test.ts',
  'test/remote/api/{hostile-document,openapi-lint}.test.ts',
  'test/device/hostile-requests.test.ts',
  'test/testing/client/{retries,error-rates,error-rates-real,real-world-faultless,time-out}.test.ts',
  'test/testing/fuzz/fuzzed.test.ts',
  ...(withPeers ? ['test/peers/**/*.test.ts'] : []),
];

/** Files whose properties the quick tier tries a tenth as often, and whose tables it runs in part (`test/support/tries.ts`). */
const ALL_TRIES = [
  'test/remote/rpc/any-input.test.ts',
  'test/remote/api/v1/{configuration,events,exchanges,hostile-lines}.test.ts',
  'test/document/hostile.test.ts',
  'test/device/{diagnostics-sequences,reactions}.test.ts',
  'test/device/faults/{kinds,limits}.test.ts',
  'test/extensions/import/{csv,esphome,home-assistant,sunspec}.test.ts',
  'test/device/registers/actions.test.ts',
  'test/simulator/plan.test.ts',
  'test/simulator/state/{keeper,sequences}.test.ts',
  'test/testing/client/{damaged,exceptions,planted,sentences,strangers,whole}.test.ts',
  'test/testing/server/{every-mutant,order,outcomes,plain,planted,written}.test.ts',
];

const SHARED = {
  setupFiles: 'test/support/seed.ts',
  // Processes, not threads: serialport in a worker thread can end the whole run with a segmentation fault.
  pool: 'forks' as const,
  // A tenth less processor time: a worker has short-lived objects mostly, and its collector needs no threads beside those of the others.
  execArgv: ['--max-semi-space-size=128', '--single-threaded-gc'],
  // Nets for what hangs, and no measure of anything: beside a process that burns every core all takes ten times as
  // long.
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 60_000 } },
};

export default defineConfig({
  test: {
    // Many tests wait for a line: on two cores, the third runs while two wait. Those of the full tier wait more: it has four.
    maxWorkers: 3,
    // What esbuild has made of a file is kept in node_modules, under a hash of its text and of this configuration.
    experimental: { fsModuleCache: true },
    coverage: { provider: 'v8', include: ['src/**/*.ts'] },
    projects: [
      {
        test: {
          ...SHARED,
          name: 'quick',
          include: ['test/**/*.test.ts'],
          exclude: [
            ...configDefaults.exclude,
            ...ALONE,
            ...FULL,
            ...FULL_ALONE,
            'test/peers/**',
            'test/shipped/**',
          ],
          isolate: false,
        },
      },
      { test: { ...SHARED, name: 'alone', include: ALONE } },
      { test: { ...SHARED, name: 'full', include: FULL, isolate: false } },
      { test: { ...SHARED, name: 'full-alone', include: FULL_ALONE } },
      // What users get: each package is made and unpacked, and its program is tried.
      {
        test: {
          ...SHARED,
          name: 'full-shipped',
          include: ['test/shipped/*.test.ts'],
          globalSetup: 'test/shipped/setup.ts',
          // Most of a trial is waiting for a client that polls. With more of them, the threads of REST, which step back, starve.
          maxConcurrency: 4,
        },
      },
      {
        test: {
          ...SHARED,
          name: 'full-tries',
          include: ALL_TRIES,
          isolate: false,
          env: { MODBUS_SIM_ALL_TRIES: '1' },
        },
      },
    ],
  },
});
