import { numberFrom } from '../../schema/parts.js';
import type { SignalKind } from '../signal.js';
import { type Wave, wave, waveSchemaWith } from '../wave.js';

/** `square`: offset + amplitude for the share `duty` of each period, offset - amplitude for the rest. */
export const square: SignalKind<Wave & { duty: number }> = {
  schema: waveSchemaWith({ duty: numberFrom(0, 1, 'a share').default(0.5) }),
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
};
