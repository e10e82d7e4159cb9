import type { TlsFiles } from '../settings.js';
import type { Binding, BindingContext, Bound } from './binding.js';
import { StreamChannel } from './channel.js';
import { cannotListen } from './listen.js';
import { type Accepted, admit, TcpBinding } from './tcp-binding.js';
import { readTlsCredentials } from './tls-credentials.js';
import { TlsHandshakes } from './tls-handshakes.js';

const NO_CA = 'clients are not authenticated: no CA is configured';

/** Modbus/TCP Security on a listening TCP socket: a connection is a client when its TLS handshake is done. */
export class TlsBinding implements Binding {
  readonly #context: BindingContext;
  readonly #files: TlsFiles;
  readonly #handshakeTimeoutMs: number;
  readonly #tcp: TcpBinding;
  /** Absent until the credentials have been read. */
  #handshakes: TlsHandshakes | undefined;

  /** The files are read when the binding opens. */
  constructor(context: BindingContext, files: TlsFiles, handshakeTimeoutMs: number) {
    this.#context = context;
    this.#files = files;
    this.#handshakeTimeoutMs = handshakeTimeoutMs;
    this.#tcp = new TcpBinding(context, (accepted) => this.#shakeHands(accepted));
  }

  async open(): Promise<Bound> {
    const { host, port } = this.#context.settings;
    const read = await readTlsCredentials(this.#files);
    if (!read.ok) return cannotListen(host, port, read.reason);
    this.#handshakes = new TlsHandshakes(read.credentials, this.#handshakeTimeoutMs);
    const bound = await this.#tcp.open();
    const notes = this.#files.ca === undefined ? [...read.notes, NO_CA] : read.notes;
    return bound.ok ? { ...bound, notes } : bound;
  }

  close(): Promise<void> {
    this.#handshakes?.abortAll();
    return this.#tcp.close();
  }

  #shakeHands(accepted: Accepted): void {
    const { clients, settings } = this.#context;
    const { maxClients } = settings;
    if (this.#handshakes && this.#handshakes.count >= maxClients) {
      this.#handshakes.abortOldest(`the oldest of ${maxClients} handshakes made room for a new one`);
    }
    this.#handshakes?.begin(accepted.raw, (handshake) => {
      const { client, clientId } = accepted;
      // Only now may it take the place of another: anybody can begin a handshake.
      if (handshake.ok) admit(this.#context, accepted, new StreamChannel(handshake.socket), handshake.role);
      else clients.turnAway({ client, clientId }, handshake.reason, handshake.text);
    });
  }
}
