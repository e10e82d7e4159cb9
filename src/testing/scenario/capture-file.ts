import { writeFileSync } from 'node:fs';
import { captureLines } from '../../simulator/line-status.js';
import type { Simulator } from '../../simulator/simulator.js';
import { Capture, capturePieces } from '../../simulator/traffic/capture/capture.js';
import { TrafficCursor } from '../../simulator/traffic/reading.js';

/** A part of the traffic that is to be written to a file, as sequence numbers with both ends included. */
export interface CaptureSpan {
  readonly file: string;
  readonly first: number;
  readonly last: number;
}

/**
 * Writes a part of the traffic for Wireshark, as it was on the wire.
 * @param path where the file is written
 * @param names the lines whose traffic is written
 * @returns why the file could not be written; undefined when it was
 */
export function writeCapture(
  simulator: Simulator,
  { first, last }: CaptureSpan,
  path: string,
  names: readonly string[],
): string | undefined {
  const capture = new Capture('wire', captureLines(simulator.lines));
  const cursor = new TrafficCursor(simulator.traffic, { lines: new Set(names) }, first - 1);
  const blocks = [...capture.header(names), ...capturePieces(capture, cursor, last)];
  try {
    writeFileSync(path, Buffer.concat(blocks));
    return undefined;
  } catch (error) {
    return `${path}: can't be written: ${(error as Error).message}`;
  }
}
