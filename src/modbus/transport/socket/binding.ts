import type { Framing } from '../../protocol/framing.js';
import type { SocketSettings } from '../settings.js';
import type { LineHandler } from '../transport.js';
import type { ClientList, DescriptorState } from './client-list.js';
import type { Listening } from './listen.js';

/**
 * One listening socket of a line, from its opening to its end. A binding adds clients to the list of its
 * line; how clients come about depends on the kind of socket.
 */
export interface Binding {
  /**
   * Opens the socket. Call this once. Every failure is reported as a sentence that names the endpoint, and
   * leaves nothing open.
   */
  open(): Promise<Listening>;
  /**
   * Accepts nothing from now on, and resolves when the port is free. Clients are not ended. Also ends an
   * `open` under way.
   */
  close(): Promise<void>;
}

/** What a binding needs from its line. */
export interface BindingContext {
  readonly settings: SocketSettings;
  readonly handler: LineHandler;
  readonly clients: ClientList;
  /** Whether one more connection leaves enough file descriptors for others. */
  readonly descriptors: () => DescriptorState;
  /** The address of the socket, on a line that has several. */
  readonly host?: string;
  /** Returns the framing that the line has now. */
  readonly framing: () => Framing;
  /** Is called when the socket failed after it had opened. The socket serves nobody any more. */
  readonly failed: (error: Error) => void;
}
