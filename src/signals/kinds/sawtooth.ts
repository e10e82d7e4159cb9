import type { SignalKind } from '../signal.js';
import { type Wave, wave, waveSchema } from '../wave.js';

/** `sawtooth`: rises from offset - amplitude to offset + amplitude, then falls back at once. */
export const sawtooth: SignalKind<Wave> = {
  schema: waveSchema,
  fits: 'numbers',
  doc: {
    entry: '`sawtooth: {period, amplitude, offset, phase}`',
    value: 'rises from offset − amplitude to offset + amplitude, then falls back at once',
  },
  start: (parameters) => wave(parameters, SHAPE),
};

const SHAPE = {
  at: (share: number) => 2 * share - 1,
  area: (share: number) => share ** 2 - share,
};
