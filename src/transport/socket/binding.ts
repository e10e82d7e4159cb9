import type { Framing } from '../../protocol/framing.js';
import type { SocketSettings } from '../settings.js';
import type { LineHandler } from '../transport.js';
import type { ClientList } from './client-list.js';
import type { NotListening } from './listen.js';

export type Bound =
  /** `port` is the real one where 0 was asked for; `address` is the resolved IP address. */
  | {
      readonly ok: true;
      readonly address: string;
      readonly port: number;
      /** What the user should know. */
      readonly notes: readonly string[];
    }
  | NotListening;

/**
 * One listening socket of a line, from its opening to its end. How clients come about differs from one kind of socket
 * to the other: a binding puts them on the list of its line.
 */
export interface Binding {
  /** To be called once. Every way to fail is a sentence that names the place, and leaves nothing open. */
  open(): Promise<Bound>;
  /** Nothing comes in from now on; done when the port is free. Clients are not ended. Also ends an `open` under way. */
  close(): Promise<void>;
}

/** What a binding needs of its line. */
export interface BindingContext {
  readonly settings: SocketSettings;
  readonly handler: LineHandler;
  readonly clients: ClientList;
  /** The framing of the line, as it is at the moment. */
  readonly framing: () => Framing;
  /** The socket failed after it had opened, and serves nobody any more. */
  readonly failed: (error: Error) => void;
}
