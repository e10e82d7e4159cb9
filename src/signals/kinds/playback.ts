import { flag, numberFrom, section, text } from '../../schema/parts.js';
import { lastBefore } from '../last-before.js';
import type { Track, TrackSource } from '../recording/track.js';
import type { Signal, SignalKind } from '../signal.js';

interface Playback extends TrackSource {
  readonly loop: boolean;
  readonly speed: number;
}

/** `playback`: plays a recorded column of a CSV file. */
export const playback: SignalKind<Playback> = {
  schema: section({
    file: text('the path of a CSV file'),
    column: text('the name of a column'),
    time: text('the name of the column with the times').default('time'),
    loop: flag.default(false),
    speed: numberFrom(0, 1_000_000, 'a speed').default(1),
  }),
  fits: 'numbers and bits',
  doc: {
    entry: '`playback: {file, column, time, loop, speed}`',
    value:
      'the values of a column of a CSV file, each from the time (seconds, or ISO 8601) in its column `time` on; holds the last one, or begins again with `loop: true`; `speed: 10` plays ten times as fast',
  },
  plays: ({ file, time, column }) => ({ file, time, column }),
  start: (parameters, context) => player(parameters, context.trackOf(parameters)),
};

/** Plays a track. While rows can't be read, the value stays at the last one that was read. */
function player({ loop, speed }: Playback, track: Track): Signal {
  let lastRead = 0;
  let trouble: string | undefined;
  return {
    valueAt(time) {
      const played = loop ? (time * speed) % track.length : Math.min(time * speed, track.length);
      const rows = track.rowsAt(played);
      if (typeof rows === 'string') {
        trouble = rows;
        return lastRead;
      }
      trouble = undefined;
      lastRead = rows.values[lastBefore(rows.times, played)] as number;
      return lastRead;
    },
    trouble: () => trouble,
  };
}
