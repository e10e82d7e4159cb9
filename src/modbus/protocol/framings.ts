import { AsciiFraming } from './ascii.js';
import { type Framing, RTU, SOCKET } from './framing.js';

/** The framings by name. A line begins with one of these. */
export const FRAMINGS: Readonly<Record<Framing['name'], Framing>> = {
  rtu: RTU,
  ascii: new AsciiFraming(),
  socket: SOCKET,
};
