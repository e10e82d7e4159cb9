import type { z } from 'zod';
import { number, numberFrom, section } from '../../../common/schema/parts.js';
import { duration } from '../../../common/schema/units.js';
import { MIN_PERIOD, type Signal, signal } from '../signal.js';

/** One cycle of a wave between -1 and 1, as a function of the completed fraction of the cycle (0 to below 1). */
interface Shape {
  at(share: number): number;
  /** Returns the integral of `at` from 0 to `share`, which may be 1. */
  area(share: number): number;
}

const SINE: Shape = {
  at: (share) => Math.sin(2 * Math.PI * share),
  area: (share) => (1 - Math.cos(2 * Math.PI * share)) / (2 * Math.PI),
};

const TRIANGLE: Shape = {
  at(share) {
    if (share < 0.25) return 4 * share;
    return share < 0.75 ? 2 - 4 * share : 4 * share - 4;
  },
  area(share) {
    if (share < 0.25) return 2 * share ** 2;
    return share < 0.75 ? 2 * share - 2 * share ** 2 - 0.25 : 2 * (1 - share) ** 2;
  },
};

const SAWTOOTH: Shape = {
  at: (share) => 2 * share - 1,
  area: (share) => share ** 2 - share,
};

const waveShape = {
  period: duration(MIN_PERIOD),
  amplitude: number,
  offset: number.default(0),
  phase: number.default(0),
};

const ABOUT_WAVE = {
  period: 'The length of a cycle, in ms.',
  amplitude: 'From the middle to a peak.',
  offset: 'The middle.',
  phase: 'Where the first cycle begins, in degrees.',
};

/** The schema of the parameters of a wave: period in ms, phase in degrees. */
const waveSchema = section(waveShape, ABOUT_WAVE);

/** Signals that repeat: offset + amplitude times a shape between -1 and 1, cycle after cycle. */
export const WAVES = {
  sine: plainWave('sine', 'offset + amplitude · sin(2π · t / period + phase)', SINE),

  triangle: plainWave('triangle', 'straight lines between the same peaks and zeros as the sine', TRIANGLE),

  sawtooth: plainWave(
    'sawtooth',
    'rises from offset − amplitude to offset + amplitude, then falls back at once',
    SAWTOOTH,
  ),

  square: signal({
    schema: section(
      { ...waveShape, duty: numberFrom(0, 1, 'a share').default(0.5) },
      { ...ABOUT_WAVE, duty: 'The share of a cycle at the upper value.' },
    ),
    fits: 'numbers and bits',
    doc: {
      entry: '`square: {period, amplitude, offset, phase, duty}`',
      value:
        'offset + amplitude for the first share `duty` (0 to 1, default 0.5) of each period, then offset − amplitude',
    },
    start: (parameters) => {
      const { duty } = parameters;
      return wave(parameters, {
        at: (share) => (share < duty ? 1 : -1),
        area: (share) => (share < duty ? share : 2 * duty - share),
      });
    },
  }),
};

/** Creates a kind of wave without parameters of its own. */
function plainWave(name: string, value: string, shape: Shape) {
  return signal({
    schema: waveSchema,
    fits: 'numbers',
    doc: { entry: `\`${name}: {period, amplitude, offset, phase}\``, value },
    start: (parameters) => wave(parameters, shape),
  });
}

/** Creates the signal offset + amplitude * shape, cycle after cycle. */
function wave({ period, amplitude, offset, phase }: z.infer<typeof waveSchema>, shape: Shape): Signal {
  const cyclesAt = (time: number) => time / period + phase / 360;
  const areaOf = (cycles: number) => {
    const whole = Math.floor(cycles);
    return whole * shape.area(1) + shape.area(cycles - whole);
  };
  return {
    valueAt(time) {
      const cycles = cyclesAt(time);
      return offset + amplitude * shape.at(cycles - Math.floor(cycles));
    },
    integral(from, to) {
      const area = areaOf(cyclesAt(to)) - areaOf(cyclesAt(from));
      return (offset * (to - from) + amplitude * period * area) / 1000;
    },
  };
}
