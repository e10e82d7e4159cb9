import type { SignalKind } from '../signal.js';
import { type Wave, wave, waveSchema } from '../wave.js';

/** `sine`: offset + amplitude * sin(2 pi * t / period + phase). */
export const sine: SignalKind<Wave> = {
  schema: waveSchema,
  fits: 'numbers',
  doc: {
    entry: '`sine: {period, amplitude, offset, phase}`',
    value: 'offset + amplitude · sin(2π · t / period + phase)',
  },
  start: (parameters) => wave(parameters, SHAPE),
};

const SHAPE = {
  at: (share: number) => Math.sin(2 * Math.PI * share),
  area: (share: number) => (1 - Math.cos(2 * Math.PI * share)) / (2 * Math.PI),
};
