import { type Course, constant } from '../signals/course.js';
import type { LocalPoints } from './local-points.js';
import type { Network } from './network.js';
import type { Point } from './point.js';

/** Tells the values of a device that follow others when those change. */
export class Followers {
  readonly #points: LocalPoints;
  readonly #network: Network;
  /** The values that follow a value. */
  readonly #followers = new Map<Point, Point[]>();
  /** What the followers of a value that is written were told last. */
  readonly #told = new Map<Point, number>();

  constructor(points: LocalPoints, network: Network) {
    this.#points = points;
    this.#network = network;
  }

  /** Call after signals have changed: finds out who follows whom. */
  link(): void {
    this.#followers.clear();
    this.#told.clear();
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
  tell(command: Point): void {
    const followers = this.#followers.get(command);
    if (!followers) return;
    const { agenda } = this.#points;
    const ownCourse = command.follower?.courseFrom(agenda.time);
    // A client that writes the same command again and again changes nothing.
    if (!ownCourse && Object.is(this.#told.get(command), command.stored)) return;
    this.#told.set(command, command.stored);
    const course = ownCourse ?? constant(command.stored);
    for (const point of followers) this.#lead(point, course);
  }

  /** Has a value go along a course, after the delay with which it follows. */
  #lead(point: Point, course: Course): void {
    const { follower } = point;
    const { agenda } = this.#points;
    if (!follower) return;
    agenda.later(follower.after, () => {
      // The signal may have been replaced meanwhile.
      if (point.follower !== follower) return;
      this.#network.settleDependents(point, agenda);
      follower.follow(course, agenda.time);
      this.tell(point);
    });
  }

  #beginBehind(command: Point, value: number): void {
    if (!command.follower) this.#told.set(command, value);
    for (const point of this.#followers.get(command) ?? []) {
      point.follower?.begin(value);
      this.#beginBehind(point, value);
    }
  }
}
