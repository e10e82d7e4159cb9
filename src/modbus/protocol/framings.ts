import { AsciiFraming } from './ascii.js';
import { type Framing, RTU, SOCKET } from './framing.js';

/** The framings by name, as lines begin with them. */
export const FRAMINGS: Readonly<Record<Framing['name'], Framing>> = {
  rtu: RTU,
  ascii: new AsciiFraming(),
  socket: SOCKET,
};
