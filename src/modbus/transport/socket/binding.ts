import { descriptorLimit, lowestFreeDescriptor, RESERVED_DESCRIPTORS } from '../../../common/descriptors.js';
import type { Framing } from '../../protocol/framing.js';
import type { SocketSettings } from '../settings.js';
import type { LineHandler } from '../transport.js';
import type { ClientList } from './client-list.js';
import type { Listening } from './listen.js';

/** Descriptors that REST should have left for its connections, at most and at least. */
const MOST_FOR_REST = 96;
const FEWEST_FOR_REST = 32;
/** Of a limit, this part is left free by clients of lines. */
const FREE_PART = 1 / 8;

/**
 * `free`: a line may have one more client. `scarce`: a line that has clients is as good as full. `spent`: nobody may have one
 * more, because the rest is for REST and files.
 */
export type DescriptorState = 'free' | 'scarce' | 'spent';

/**
 * How far the clients of lines have used up the file descriptors of this process. Of 1,024, they leave 128 free, and those
 * of lines without any other client 80; of 256 it is 64 and 48.
 * @param limit how many descriptors the process may have; undefined for what the system says
 */
export function descriptorStates(limit = descriptorLimit()): () => DescriptorState {
  if (limit === undefined) return () => 'free';
  const forRest = Math.min(
    MOST_FOR_REST,
    Math.max(FEWEST_FOR_REST, Math.floor(limit * FREE_PART) - RESERVED_DESCRIPTORS),
  );
  const spentFrom = limit - RESERVED_DESCRIPTORS - forRest / 2;
  const scarceFrom = limit - RESERVED_DESCRIPTORS - forRest;
  return () => {
    const used = lowestFreeDescriptor();
    if (used < scarceFrom) return 'free';
    return used < spentFrom ? 'scarce' : 'spent';
  };
}

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
