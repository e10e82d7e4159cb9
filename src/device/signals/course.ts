/** A straight line that a value follows from `time` (in ms) on. `rate` is the change per ms. */
interface CoursePiece {
  readonly time: number;
  readonly value: number;
  readonly rate: number;
}

/** The values over time: straight lines in the order of their times. The last line goes on forever. */
export type Course = readonly CoursePiece[];

/** Makes the course of a value that stays where it is. */
export function constant(value: number): Course {
  return [{ time: 0, value, rate: 0 }];
}

/** Returns the value at a time. Before the first line, this is the first value. */
export function courseAt(course: Course, time: number): number {
  return onLine(pieceAt(course, time), time);
}

/** Returns the integral between two times, in value-seconds. */
export function courseIntegral(course: Course, from: number, to: number): number {
  let sum = 0;
  for (let at = from; at < to; ) {
    const next = course.find(({ time }) => time > at)?.time ?? to;
    const end = Math.min(next, to);
    const piece = pieceAt(course, at);
    // The value stands still before the first line, so its two ends are taken from the same line.
    sum += ((onLine(piece, at) + onLine(piece, end)) / 2) * (end - at);
    at = end;
  }
  return sum / 1000;
}

/** Returns the course as it goes on from `time`, `delay` ms later. */
export function courseFrom(course: Course, time: number, delay = 0): Course {
  const piece = pieceAt(course, time);
  const first = { time, value: onLine(piece, time), rate: piece.time > time ? 0 : piece.rate };
  return [first, ...course.filter((each) => each.time > time)].map((each) => ({
    ...each,
    time: each.time + delay,
  }));
}

/**
 * Returns the course of a value that is at `value` at `time` and then approaches another course by at most
 * `most` per ms.
 */
export function limitedCourse(target: Course, time: number, value: number, most: number): Course {
  const limited: CoursePiece[] = [];
  const pieces = courseFrom(target, time);
  let now = time;
  let here = Number.isFinite(value) ? value : courseAt(target, time);
  pieces.forEach((piece, i) => {
    const end = pieces[i + 1]?.time ?? Number.POSITIVE_INFINITY;
    while (now < end) {
      const gap = onLine(piece, now) - here;
      const isThere = gap === 0 && Math.abs(piece.rate) <= most;
      const rate = isThere ? piece.rate : most * Math.sign(gap || piece.rate);
      limited.push({ time: now, value: here, rate });
      const wait = gap / (rate - piece.rate);
      const meeting = now + wait;
      if (gap !== 0 && wait >= 0 && meeting < end) {
        now = meeting;
        here = onLine(piece, meeting);
      } else {
        here += rate * (end - now);
        now = end;
      }
    }
  });
  return limited;
}

function pieceAt(course: Course, time: number): CoursePiece {
  return course.findLast((piece) => piece.time <= time) ?? (course[0] as CoursePiece);
}

function onLine({ time, value, rate }: CoursePiece, at: number): number {
  return at <= time || rate === 0 ? value : value + rate * (at - time);
}
