import type { SignalKind } from '../signal.js';
import { type Wave, wave, waveSchema } from '../wave.js';

/** `triangle`: in straight lines from the offset to offset + amplitude, to offset - amplitude, and back. */
export const triangle: SignalKind<Wave> = {
  schema: waveSchema,
  fits: 'numbers',
  doc: {
    entry: '`triangle: {period, amplitude, offset, phase}`',
    value: 'straight lines through the same peaks and zeros as the sine',
  },
  start: (parameters) => wave(parameters, { at, area }),
};

function at(share: number): number {
  if (share < 0.25) return 4 * share;
  return share < 0.75 ? 2 - 4 * share : 4 * share - 4;
}

function area(share: number): number {
  if (share < 0.25) return 2 * share ** 2;
  return share < 0.75 ? 2 * share - 2 * share ** 2 - 0.25 : 2 * (1 - share) ** 2;
}
