import { type Course, constant } from '../signals/course.js';
import type { DependencyGraph } from './dependency-graph.js';
import type { LocalPoints, Point } from './point.js';

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
    this.#followers.clear();
    this.#commanded.clear();
    for (const point of this.#points.all) {
      const command = this.#points.named.get(point.follower?.command ?? '');
      if (command) this.#followers.set(command, [...(this.#followers.get(command) ?? []), point]);
    }
  }

  has(point: Point): boolean {
    return this.#followers.has(point);
  }

  /** Puts all followers to where the values that they follow stand. */
  begin(): void {
    for (const [command] of this.#followers) {
      if (!command.follower) this.#beginBehind(command, command.stored);
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

  #beginBehind(command: Point, value: number): void {
    if (!command.follower) this.#commanded.set(command, value);
    for (const point of this.#followers.get(command) ?? []) {
      point.follower?.begin(value);
      this.#beginBehind(point, value);
    }
  }
}
