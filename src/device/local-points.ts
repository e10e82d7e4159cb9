import type { RegisterImage } from '../registers/image.js';
import type { Agenda } from './agenda.js';
import type { Point } from './point.js';

/** The values of one device, for the parts that make them react and follow. */
export interface LocalPoints {
  readonly all: readonly Point[];
  readonly named: ReadonlyMap<string, Point>;
  readonly agenda: Agenda;
  /** The value at a cell of an image, if the value has a name, a signal or reactions. */
  at(image: RegisterImage, cell: number): Point | undefined;
  /** The values with a cell among `count` cells of an image. */
  between(image: RegisterImage, address: number, count: number): readonly Point[];
  /** Does what has become due. */
  advance(): void;
  /** The value now, in its unit. */
  valueNow(point: Point): number;
  /** Whether a write of the value makes something happen later. */
  causesMore(point: Point): boolean;
}
