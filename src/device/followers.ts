import { atOnce, type Work } from '../common/work.js';
import type { DependencyGraph } from './dependency-graph.js';
import type { LocalPoints, Point } from './point.js';
import { type Course, constant } from './signals/course.js';

/** Values that are looked at without a pause. */
const PIECE = 64;

/** Lets the values of a device that follow others go where those went. */
export class Followers {
  readonly #points: LocalPoints;
  readonly #graph: DependencyGraph;
  /** The values that follow a value. */
  readonly #followers = new Map<Point, Point[]>();
  /** Where the followers of a value that is written are going. */
  readonly #commanded = new Map<Point, number>();

  constructor(points: LocalPoints, graph: DependencyGraph) {
    this.#points = points;
    this.#graph = graph;
  }

  /** Call after signals have changed: finds out who follows whom. */
  link(): void {
    atOnce(this.linking());
  }

  /** The same in pieces. */
  *linking(): Work<void> {
    this.#followers.clear();
    this.#commanded.clear();
    for (const [i, point] of this.#points.all.entries()) {
      if (i % PIECE === 0) yield;
      const command = this.#points.named.get(point.follower?.command ?? '');
      if (!command) continue;
      // Added in place: tens of thousands may follow one value.
      const followers = this.#followers.get(command);
      if (followers) followers.push(point);
      else this.#followers.set(command, [point]);
    }
  }

  has(point: Point): boolean {
    return this.#followers.has(point);
  }

  /** Puts all followers to where the values that they follow stand. */
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
          if (++begun % PIECE === 0) yield;
        }
      }
    }
  }

  /** Call after a value has changed, or is going another way. */
  changed(command: Point): void {
    const followers = this.#followers.get(command);
    if (!followers) return;
    const { schedule } = this.#points;
    const ownCourse = command.follower?.courseFrom(schedule.time);
    // A client that writes the same command again and again changes nothing.
    if (!ownCourse && Object.is(this.#commanded.get(command), command.stored)) return;
    this.#commanded.set(command, command.stored);
    const course = ownCourse ?? constant(command.stored);
    for (const point of followers) this.#lead(point, course);
  }

  /** Has a value go along a course, after the delay with which it follows. */
  #lead(point: Point, course: Course): void {
    const { follower } = point;
    const { schedule } = this.#points;
    if (!follower) return;
    schedule.later(follower.after, () => {
      // The signal may have been replaced meanwhile.
      if (point.follower !== follower) return;
      this.#graph.settleDependents(point, schedule);
      follower.follow(course, schedule.time);
      this.changed(point);
    });
  }
}
