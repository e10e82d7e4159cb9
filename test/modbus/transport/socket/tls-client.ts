import { readFileSync } from 'node:fs';
import { type ConnectionOptions, connect } from 'node:tls';
import type { Identity } from './certificates.js';
import { RawClient } from './raw-client.js';

export interface TlsClientOptions {
  /** The CA of the server. */
  readonly ca: Identity;
  /** Its own certificate, if it has one. */
  readonly identity?: Identity;
  readonly options?: ConnectionOptions;
}

/** A client without manners on a TLS connection. `error` is the first code of what went wrong. */
export class TlsClient extends RawClient {
  error: string | undefined;
  /** Subject of the server's certificate. */
  server: string | undefined;

  constructor(port: number, { ca, identity, options }: TlsClientOptions) {
    const socket = connect({
      port,
      host: '127.0.0.1',
      ca: readFileSync(ca.cert),
      checkServerIdentity: () => undefined,
      ...(identity && { cert: readFileSync(identity.cert), key: readFileSync(identity.key) }),
      ...options,
    });
    super(socket);
    socket.on('secureConnect', () => {
      // A resumed session has none.
      this.server = socket.getPeerX509Certificate()?.subject.replace('CN=', '');
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      this.error ??= error.code;
    });
  }
}

/** Versions of TLS that OpenSSL refuses to speak unless told that security does not matter. */
export const TLS_1_1: ConnectionOptions = {
  minVersion: 'TLSv1.1',
  maxVersion: 'TLSv1.1',
  ciphers: 'DEFAULT@SECLEVEL=0',
};
