import { numberFrom, section, text, UNLIMITED } from '../../schema/parts.js';
import { duration } from '../../schema/units.js';
import { type Course, constant, courseAt, courseFrom, courseIntegral, limitedCourse } from '../course.js';
import type { SignalKind } from '../signal.js';

interface Follows {
  readonly name: string;
  readonly after: number;
  readonly slew?: number | undefined;
}

/** The longest delay: a day. */
const MAX_DELAY = 86_400_000;

/** `follows`: a feedback that goes where its command went, like a valve or a drive. */
export const follows: SignalKind<Follows> = {
  schema: section({
    name: text('the name of the value to follow'),
    after: duration(0, MAX_DELAY).default(0),
    slew: numberFrom(Number.MIN_VALUE, UNLIMITED, 'a change per second').optional(),
  }),
  fits: 'numbers and bits',
  doc: {
    entry: '`follows: {name, after, slew}`',
    value:
      'goes where the value `name` of the same device went, `after` that time (default 0), and by at most `slew` per second. Such a value is written, or follows another one itself',
  },
  needs: ({ name }) => [name],
  start: ({ name, after, slew }) => {
    // Changed only when the command changes, never by a read.
    let course: Course = constant(0);
    return {
      valueAt: (time) => courseAt(course, time),
      integral: (from, to) => courseIntegral(course, from, to),
      follower: {
        command: name,
        after,
        courseFrom: (time) => courseFrom(course, time),
        begin(value) {
          course = constant(value);
        },
        follow(command, time) {
          const delayed = courseFrom(command, time - after, after);
          course =
            slew === undefined ? delayed : limitedCourse(delayed, time, courseAt(course, time), slew / 1000);
        },
      },
    };
  },
};
