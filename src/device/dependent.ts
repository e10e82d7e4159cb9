import type { Agenda } from './agenda.js';

/** Something that adds up or records other values. */
export interface Dependent {
  /** The names of the values that it depends on directly. */
  readonly needs: readonly string[];
  /**
   * Computes everything up to `time`, so that a later read has less to do. Absent where a read never has much to do.
   */
  reach?(time: number, revision: number): void;
  /** Fixes everything up to `time` of the device's clock. */
  settle(time: number, revision: number): void;
}

/** The device that a dependent belongs to, whose clock it follows. */
export interface DependentOwner {
  /** Has a dependent keep what it has, at the present moment of the agenda, which may be another device's. */
  settle(dependent: Dependent, agenda: Agenda): void;
}
