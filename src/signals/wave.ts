import { number, section } from '../schema/parts.js';
import { duration } from '../schema/units.js';
import type { Signal } from './signal.js';

/** One cycle of a wave between -1 and 1, as a function of the completed share of the cycle (0 to below 1). */
export interface Shape {
  at(share: number): number;
  /** The integral of `at` from 0 to `share`, which may be 1. */
  area(share: number): number;
}

/** The shortest period, in ms. Signals are computed when they are read, which is at most about once per ms. */
export const MIN_PERIOD = 1;

const waveShape = {
  period: duration(MIN_PERIOD),
  amplitude: number,
  offset: number.default(0),
  phase: number.default(0),
};

/** The parameters of a wave: period in ms, phase in degrees. */
export const waveSchema = section(waveShape);

/** The schema of a wave with additional parameters of its kind. */
export function waveSchemaWith<Own extends Parameters<typeof section>[0]>(own: Own) {
  return section({ ...waveShape, ...own });
}

export interface Wave {
  readonly period: number;
  readonly amplitude: number;
  readonly offset: number;
  readonly phase: number;
}

/** offset + amplitude * shape, cycle after cycle. */
export function wave({ period, amplitude, offset, phase }: Wave, shape: Shape): Signal {
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
