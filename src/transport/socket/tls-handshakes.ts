import type { Socket } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import { roleOf } from './certificate-role.js';
import type { TlsCredentials } from './tls-credentials.js';
import { tlsFailure } from './tls-failure.js';

export type Handshake =
  /** `role` is that of the client's certificate. */
  | { readonly ok: true; readonly socket: TLSSocket; readonly role: string | undefined }
  /** The connection is closed. */
  | { readonly ok: false; readonly reason: 'tls' | 'limit'; readonly text: string };

/**
 * The TLS handshakes of one line that are under way (MODBUS/TCP Security V2.1). They need TLS 1.2 or newer and, if
 * there is a CA, a certificate from the client.
 */
export class TlsHandshakes {
  /** Never listens. Connections are passed to it. */
  readonly #server: Server;
  /** The oldest first. */
  readonly #waiting = new Map<Socket, (handshake: Handshake) => void>();

  /**
   * @param credentials that go together
   * @param timeoutMs how long a handshake may take
   */
  constructor({ cert, key, ca }: TlsCredentials, timeoutMs: number) {
    this.#server = createServer({
      cert,
      key,
      ...(ca && { ca: [...ca] }),
      requestCert: ca !== undefined,
      rejectUnauthorized: ca !== undefined,
      minVersion: 'TLSv1.2',
      handshakeTimeout: timeoutMs,
    });
    this.#server.on('secureConnection', (socket) => {
      socket.allowHalfOpen = true;
      const role = roleOf(socket.getPeerX509Certificate()?.raw ?? new Uint8Array(0));
      this.#settle(socket, { ok: true, socket, role });
    });
    this.#server.on('tlsClientError', (error, socket) => {
      // OpenSSL's name for the fault of a refused certificate, otherwise null, whatever the type says.
      const fault = (socket.authorizationError as unknown as string | null) ?? undefined;
      this.#settle(socket, { ok: false, reason: 'tls', text: tlsFailure(error, fault) });
    });
  }

  get count(): number {
    return this.#waiting.size;
  }

  /** Begins the handshake of a connection; `done` is called once, later. */
  begin(raw: Socket, done: (handshake: Handshake) => void): void {
    this.#waiting.set(raw, done);
    // The TLS socket reports the errors.
    raw.on('error', () => {});
    // A client that leaves during the handshake is gone. Later the TLS socket handles this.
    raw.allowHalfOpen = false;
    this.#server.emit('connection', raw);
  }

  /** Gives up the handshake that has been under way for longest, to make room. */
  abortOldest(text: string): void {
    const [oldest] = this.#waiting;
    if (oldest === undefined) return;
    const [raw, done] = oldest;
    this.#waiting.delete(raw);
    raw.destroy();
    done({ ok: false, reason: 'limit', text });
  }

  /** Ends all handshakes without reporting them. */
  abortAll(): void {
    for (const raw of this.#waiting.keys()) raw.destroy();
    this.#waiting.clear();
  }

  #settle(socket: TLSSocket, handshake: Handshake): void {
    const raw = rawOf(socket);
    const done = this.#waiting.get(raw);
    if (!handshake.ok || done === undefined) raw.destroy();
    this.#waiting.delete(raw);
    done?.(handshake);
  }
}

/**
 * The connection below a TLS socket. Node has no public way to get it. One TLS server for each connection would not
 * need it, but costs as much as the handshake. The tests of this line fail if the name changes.
 */
function rawOf(socket: TLSSocket): Socket {
  return (socket as unknown as { readonly _parent: Socket })._parent;
}
