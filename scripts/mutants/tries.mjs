import { setMaxListeners } from 'node:events';
import { appendFileSync } from 'node:fs';
import { VitestTestRunner } from 'vitest/runners';
import { getFn, getHooks } from 'vitest/suite';

/*
 * Runs in vitest's test process, instead of its own runner: runs all tests once, notes which mutants each of
 * them reaches, and then runs those tests again with one mutant after another switched on, until one fails.
 * Modules are loaded once, so a mutant takes milliseconds. See scripts/mutants.mjs.
 */

/** @typedef {import('vitest').RunnerTestCase} Test */
/** @typedef {import('vitest').RunnerTestSuite | import('vitest').RunnerTestFile} Suite */
/** @typedef {Record<string, number>} Hits how many times each mutant was reached, by identifier */
/** @typedef {{files: number, mutants: string[], outcomes: string}} Job */
/** @typedef {'noticed' | 'survived' | 'no test' | 'when loaded' | 'again'} Outcome */

/** @type {Job} */
const JOB = JSON.parse(process.env.MUTANTS ?? 'null');
const LONGEST_TEST_MS = 5000;

/**
 * The object that code with mutants reads. @type {{activeMutant?: string, currentTestId?: string, hitCount?:
 * number, hitLimit?: number, mutantCoverage: {static: Hits, perTest: Record<string, Hits>}}}
 */
const SWITCH = { mutantCoverage: { static: {}, perTest: {} } };
Object.assign(globalThis, { __stryker__: SWITCH });

/** @type {Test[]} */
const passed = [];
let files = 0;

export default class Tries extends VitestTestRunner {
  /** @override @param {Test} test */
  async onBeforeRunTask(test) {
    SWITCH.currentTestId = test.id;
    await super.onBeforeRunTask(test);
  }

  /** @override @param {Test} test */
  onAfterRunTask(test) {
    super.onAfterRunTask(test);
    delete SWITCH.currentTestId;
    if (test.result?.state === 'pass') passed.push(test);
  }

  /** @override */
  async onAfterRunFiles() {
    files++;
    if (files === JOB.files) await this.#tryMutants();
    super.onAfterRunFiles();
  }

  async #tryMutants() {
    const { static: whenLoaded, perTest } = structuredClone(SWITCH.mutantCoverage);
    const repeatable = new Set(await this.#thatPass(passed));
    const quickestFirst = passed
      .filter((test) => repeatable.has(test))
      .toSorted((one, other) => (one.result?.duration ?? 0) - (other.result?.duration ?? 0));
    for (const [tried, mutant] of JOB.mutants.entries()) {
      note(mutant);
      const tests = quickestFirst.filter(({ id }) => perTest[id]?.[mutant]);
      const isReached = passed.some(({ id }) => perTest[id]?.[mutant]);
      if (!isReached) {
        note(mutant, whenLoaded[mutant] ? 'when loaded' : 'no test');
        continue;
      }
      SWITCH.hitCount = 0;
      SWITCH.hitLimit = 100 * Math.max(10, ...tests.map(({ id }) => perTest[id]?.[mutant] ?? 0));
      SWITCH.activeMutant = mutant;
      const failed = await this.#firstThatFails(tests);
      delete SWITCH.activeMutant;
      // An effect that a mutant left behind may make a test fail. If so, a new process continues, beginning
      // with this mutant.
      const isSound = failed === undefined || (await this.#passes(failed));
      note(mutant, !failed ? 'survived' : isSound || tried === 0 ? 'noticed' : 'again');
      if (!isSound) process.kill(process.pid, 'SIGKILL');
    }
  }

  /** @param {readonly Test[]} tests */
  async #thatPass(tests) {
    const those = [];
    for (const test of tests) if (await this.#passes(test)) those.push(test);
    return those;
  }

  /** @param {readonly Test[]} tests */
  async #firstThatFails(tests) {
    for (const test of tests) if (!(await this.#passes(test))) return test;
    return undefined;
  }

  /** Runs a test once more, with its hooks. @param {Test} test */
  async #passes(test) {
    /** @type {(() => unknown)[]} */
    const after = [];
    setMaxListeners(0, test.context.signal);
    try {
      for (const suite of suitesOf(test)) {
        const { beforeEach, afterEach } = getHooks(suite);
        after.unshift(...afterEach.map((end) => () => end(test.context, suite)));
        for (const begin of beforeEach) {
          const end = await begin(test.context, suite);
          if (typeof end === 'function') after.unshift(() => Reflect.apply(end, undefined, []));
        }
      }
      await inTime(getFn(test)());
      return true;
    } catch {
      return false;
    } finally {
      for (const end of after) await Promise.resolve(end()).catch(() => {});
    }
  }
}

/** The suites that contain a test, from its file on. @param {Test} test @returns {Suite[]} */
function suitesOf(test) {
  const suites = [];
  for (let suite = test.suite; suite; suite = suite.suite) suites.unshift(suite);
  return suites[0] === test.file ? suites : [test.file, ...suites];
}

const { setTimeout: laterOn, clearTimeout: notAnyMore } = globalThis;

/** @param {unknown} work */
async function inTime(work) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const late = new Promise((_, reject) => {
    timer = laterOn(() => reject(new Error('late')), LONGEST_TEST_MS);
  });
  await Promise.race([work, late]).finally(() => notAnyMore(timer));
}

/** A mutant without an outcome is in progress. @param {string} mutant @param {Outcome} [outcome] */
function note(mutant, outcome) {
  appendFileSync(JOB.outcomes, `${JSON.stringify({ mutant, outcome })}\n`);
}
