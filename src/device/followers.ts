import { atOnce, type Work } from '../common/work.js';
import type { LocalPoints, Point } from './point.js';
import { type Course, constant } from './signals/signal.js';

/** How many values are handled between two pauses. */
const VALUES_AT_ONCE = 64;

/** Makes those values of a device that follow others track them. */
export class Followers {
  readonly #points: LocalPoints;
  readonly #followers = new Map<Point, Point[]>();
  /** How many values follow a value, directly or indirectly; counted on first use. */
  readonly #counts = new Map<Point, number>();
  /** For each value that is followed, the last value that was sent to its followers. */
  readonly #commanded = new Map<Point, number>();

  constructor(points: LocalPoints) {
    this.#points = points;
  }

  /** Finds out which value follows which. Call this after signals have changed. */
  link(): void {
    atOnce(this.linking());
  }

  /** Does the same as `link`, in pieces. */
  *linking(): Work<void> {
    this.#followers.clear();
    this.#counts.clear();
    this.#commanded.clear();
    for (const [i, point] of this.#points.all.entries()) {
      if (i % VALUES_AT_ONCE === 0) yield;
      const command = this.#points.named.get(point.follower?.command ?? '');
      if (!command) continue;
      // The value is added in place, because tens of thousands may follow one value.
      const followers = this.#followers.get(command);
      if (followers) followers.push(point);
      else this.#followers.set(command, [point]);
    }
  }

  /** Returns how many values follow a value, directly or indirectly. */
  countOf(point: Point): number {
    const followers = this.#followers.get(point);
    if (!followers) return 0;
    const known = this.#counts.get(point);
    if (known !== undefined) return known;
    const count = followers.reduce((sum, each) => sum + 1 + this.countOf(each), 0);
    this.#counts.set(point, count);
    return count;
  }

  /** Sets all followers to the values that they follow. */
  *beginning(): Work<void> {
    let begun = 0;
    for (const [first] of this.#followers) {
      if (first.follower) continue;
      const { stored } = first;
      this.#commanded.set(first, stored);
      const commands = [first];
      for (const command of commands) {
        for (const point of this.#followers.get(command) ?? []) {
          point.follower?.begin(stored);
          commands.push(point);
          if (++begun % VALUES_AT_ONCE === 0) yield;
        }
      }
    }
  }

  /** Makes the followers of a value follow it. Call this after the value has changed, or has taken another course. */
  changed(command: Point): void {
    const followers = this.#followers.get(command);
    if (!followers) return;
    const { schedule } = this.#points;
    const ownCourse = command.follower?.courseFrom(schedule.time);
    // A client that keeps writing the same command changes nothing.
    if (!ownCourse && Object.is(this.#commanded.get(command), command.stored)) return;
    this.#commanded.set(command, command.stored);
    const course = ownCourse ?? constant(command.stored);
    for (const point of followers) this.#lead(point, course);
  }

  /** Makes a value take a course, after its delay. */
  #lead(point: Point, course: Course): void {
    const { follower } = point;
    const { schedule } = this.#points;
    if (!follower) return;
    const follow = () => {
      // The signal may have been replaced in the meantime.
      if (point.follower !== follower) return;
      this.#points.settleDependents(point);
      follower.follow(course, schedule.time);
      this.changed(point);
    };
    schedule.later(follower.after, follow, 1 + this.countOf(point));
  }
}
