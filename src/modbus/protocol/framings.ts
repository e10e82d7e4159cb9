import { AsciiFraming } from './ascii.js';
import { type Framing, RTU, SOCKET } from './framing.js';

/** The framings by name, with their initial delimiters. */
export const FRAMINGS: Readonly<Record<Framing['name'], Framing>> = {
  rtu: RTU,
  ascii: new AsciiFraming(),
  socket: SOCKET,
};
