/** The rows of a strip, from top to bottom. */
export const LANES = ['received', 'sent', 'planned', 'notes'] as const;

export type Lane = (typeof LANES)[number];

/**
 * How a piece is drawn. `wait` is the silence before a reply may begin, `missing` what was planned and not done,
 * `mark` a moment without a length.
 */
export type Look =
  | 'ours'
  | 'foreign'
  | 'damaged'
  | 'break'
  | 'planned'
  | 'wait'
  | 'missing'
  | 'fault'
  | 'mark';

/** Something on a line from one moment to another. Times are µs of any one clock. */
export interface Piece {
  /** What the piece belongs to: the sequence number of its event. */
  readonly id: number;
  readonly lane: Lane;
  readonly look: Look;
  readonly startUs: number;
  readonly endUs: number;
  /** Stands on the piece or beside it where there is room. */
  readonly label: string;
  /** All of it, for who can't see it and for who wants to know. */
  readonly words: string;
}

/** The times of a line; undefined where characters take none. */
export interface Wire {
  readonly characterUs: number | undefined;
  readonly t35Us: number | undefined;
}

/** Whether somebody speaks in this piece: the pauses of a line are between such pieces. */
export function isSpeech({ lane, look }: Piece): boolean {
  return lane === 'received' || (lane === 'sent' && look !== 'missing');
}
