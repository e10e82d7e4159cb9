import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import { createSecureContext, createServer, type Server, type TLSSocket } from 'node:tls';
import { failure, type Result, success } from '../../../common/result.js';
import { readShort } from '../read-short.js';
import type { TlsFiles } from '../settings.js';

interface TlsCredentials {
  readonly cert: string;
  readonly key: string;
  readonly ca: readonly string[] | undefined;
}

type ReadTlsCredentials =
  | { readonly ok: true; readonly credentials: TlsCredentials; readonly notes: readonly string[] }
  /** The error names the file and what is wrong with it. */
  | { readonly ok: false; readonly error: string };

const CERTIFICATES = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;
/** Matches an encrypted key: PKCS 8 and the older form of OpenSSL. */
const ENCRYPTED = /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m;

const READ_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: "can't be read by this user",
  EISDIR: 'is a directory',
};

/**
 * The largest file that is read, in bytes. A certificate has a few KB; all the CA certificates of a system
 * have 200 KB.
 */
export const LARGEST_PEM_BYTES = 1024 * 1024;

/**
 * Reads the files and checks that they belong together. An expired certificate only causes a note, because
 * clients may be tested with one.
 */
export async function readTlsCredentials({ cert, key, ca }: TlsFiles): Promise<ReadTlsCredentials> {
  const chain = await readCertificates('certificate', cert);
  if (!chain.ok) return chain;
  const privateKey = await readKey(key);
  if (!privateKey.ok) return privateKey;
  const [own] = chain.value as [X509Certificate, ...X509Certificate[]];
  if (!own.checkPrivateKey(privateKey.value)) {
    return failure(`the key in ${key} does not belong to the first certificate in ${cert}`);
  }
  const authorities = ca === undefined ? undefined : await readCertificates('CA', ca);
  if (authorities?.ok === false) return authorities;
  const credentials = {
    cert: pemOf(chain.value).join(''),
    key: privateKey.value.export({ format: 'pem', type: 'pkcs8' }) as string,
    ca: authorities && pemOf(authorities.value),
  };
  const refusal = refusalOf(credentials);
  if (refusal !== undefined) return failure(`the certificate file ${cert} can't be used: ${refusal}`);
  return {
    ok: true,
    credentials,
    notes: [
      ...validityNotes(cert, own),
      ...(authorities?.value ?? []).flatMap((authority) => validityNotes(ca as string, authority)),
    ],
  };
}

/** Returns why OpenSSL refuses the files, for example because a key is too short. */
function refusalOf({ cert, key, ca }: TlsCredentials): string | undefined {
  try {
    createSecureContext({ cert, key, ...(ca && { ca: [...ca] }) });
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

async function readCertificates(what: string, path: string): Promise<Result<X509Certificate[]>> {
  const text = await readPem(what, path);
  if (!text.ok) return text;
  const blocks = text.value.match(CERTIFICATES) ?? [];
  if (blocks.length === 0) {
    return failure(`the ${what} file ${path} contains no certificate, expected PEM`);
  }
  try {
    return success(blocks.map((block) => new X509Certificate(block)));
  } catch {
    return failure(`the ${what} file ${path} contains a damaged certificate`);
  }
}

async function readKey(path: string): Promise<Result<KeyObject>> {
  const text = await readPem('key', path);
  if (!text.ok) return text;
  try {
    return success(createPrivateKey(text.value));
  } catch {
    const found = ENCRYPTED.test(text.value)
      ? 'is encrypted, expected one without a passphrase'
      : 'contains no private key, expected PEM';
    return failure(`the key file ${path} ${found}`);
  }
}

async function readPem(what: string, path: string): Promise<Result<string>> {
  try {
    return success(await readShort(path, LARGEST_PEM_BYTES));
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    const reason = READ_ERRORS[code];
    const why = reason === undefined ? `can't be read: ${message}` : `${reason} (${code})`;
    return failure(`the ${what} file ${path} ${why}`);
  }
}

function pemOf(certificates: readonly X509Certificate[]): string[] {
  return certificates.map((certificate) => certificate.toString());
}

function validityNotes(path: string, { validFrom, validTo }: X509Certificate): string[] {
  const now = Date.now();
  if (Date.parse(validTo) < now) return [`the certificate in ${path} expired on ${validTo}`];
  if (Date.parse(validFrom) > now) return [`the certificate in ${path} is not valid before ${validFrom}`];
  return [];
}

/** The X.509v3 extension that carries a role (MODBUS/TCP Security V2.1, 8.4): 1.3.6.1.4.1.50316.802.1 in DER. */
const ROLE_OID = Buffer.from('2b0601040183890c862201', 'hex');
/** DER tags (X.690, 8.1.2 and 8.4), and the tag of the extensions in a TBSCertificate (RFC 5280, 4.1). */
const TAG = { octetString: 0x04, objectIdentifier: 0x06, utf8String: 0x0c, extensions: 0xa3 } as const;

interface DerElement {
  readonly tag: number;
  readonly content: Uint8Array;
}

/**
 * Returns the role in a DER certificate: the UTF8String of its role extension. Undefined if the certificate
 * has no such extension, or the extension is not a UTF8String.
 */
function roleOf(certificate: Uint8Array): string | undefined {
  const [tbsCertificate] = partsOf(elementsIn(certificate)[0]);
  const extensions = partsOf(tbsCertificate).find(({ tag }) => tag === TAG.extensions);
  for (const extension of partsOf(partsOf(extensions)[0])) {
    // The flag "critical" may come between identifier and value.
    const [id, ...rest] = partsOf(extension);
    if (id?.tag !== TAG.objectIdentifier || !ROLE_OID.equals(id.content)) continue;
    const value = rest.at(-1);
    const [text, ...others] = value?.tag === TAG.octetString ? partsOf(value) : [];
    if (text?.tag !== TAG.utf8String || others.length > 0) return undefined;
    return Buffer.from(text.content).toString('utf8');
  }
  return undefined;
}

function partsOf(element: DerElement | undefined): DerElement[] {
  return element === undefined ? [] : elementsIn(element.content);
}

/** Returns the DER elements in these bytes (X.690, 8.1 and 10.1); none if they are not DER. */
function elementsIn(bytes: Uint8Array): DerElement[] {
  const elements: DerElement[] = [];
  for (let at = 0; at < bytes.length; ) {
    const [tag = 0, first = 0] = bytes.subarray(at, at + 2);
    const start = at + 2 + (first > 0x7f ? first & 0x7f : 0);
    const length =
      first > 0x7f ? bytes.subarray(at + 2, start).reduce((sum, byte) => 256 * sum + byte, 0) : first;
    if (start + length > bytes.length) return [];
    elements.push({ tag, content: bytes.subarray(start, start + length) });
    at = start + length;
  }
  return elements;
}

const NOT_TLS = 'the client does not speak TLS';
const UNKNOWN_CA = "the client's certificate is not signed by the CA of this line";
const OWN_REFUSED = 'the client does not accept the certificate of this line';
const TOO_OLD = 'the client supports only TLS versions before 1.2';

/** OpenSSL's errors for a client's certificate, in words. */
const CERTIFICATE_FAULTS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "the client's certificate has expired",
  CERT_NOT_YET_VALID: "the client's certificate is not valid yet",
  INVALID_PURPOSE: "the client's certificate is not meant for TLS clients (extended key usage)",
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_CA,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_CA,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_CA,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_CA,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_CA,
  CERT_SIGNATURE_FAILURE: UNKNOWN_CA,
};

const HANDSHAKE_FAULTS: Readonly<Record<string, string>> = {
  ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE: 'the client sent no certificate; this line requires one',
  ERR_SSL_UNSUPPORTED_PROTOCOL: TOO_OLD,
  ERR_SSL_VERSION_TOO_LOW: TOO_OLD,
  ERR_SSL_WRONG_VERSION_NUMBER: NOT_TLS,
  ERR_SSL_HTTP_REQUEST: NOT_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NOT_TLS,
  ERR_SSL_BAD_RECORD_TYPE: NOT_TLS,
  ERR_SSL_UNEXPECTED_MESSAGE: NOT_TLS,
  ERR_SSL_NO_SHARED_CIPHER: 'the client and this line have no cipher in common',
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: OWN_REFUSED,
  ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: OWN_REFUSED,
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED: OWN_REFUSED,
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN: OWN_REFUSED,
  ERR_TLS_HANDSHAKE_TIMEOUT: 'the client did not complete its TLS handshake in time',
  ECONNRESET: 'the client closed the connection during the TLS handshake',
};

/**
 * Explains why a TLS handshake failed.
 * @param error the error that ended the handshake
 * @param certificateFault OpenSSL's name for what is wrong with the client's certificate, if that is the
 * reason
 */
export function tlsFailure(error: NodeJS.ErrnoException, certificateFault: string | undefined): string {
  if (certificateFault !== undefined) {
    return (
      CERTIFICATE_FAULTS[certificateFault] ?? `the client's certificate is not valid (${certificateFault})`
    );
  }
  // OpenSSL 3.5, used by newer versions of Node, calls the alerts of SSLv3 "SSL/TLS".
  const known = HANDSHAKE_FAULTS[(error.code ?? '').replace('SSL/TLS_ALERT', 'SSLV3_ALERT')];
  if (known !== undefined) return known;
  const { reason = error.code ?? error.message } = error as { readonly reason?: string };
  return `the TLS handshake failed: ${reason}`;
}

type Handshake =
  | { readonly ok: true; readonly socket: TLSSocket; readonly role: string | undefined }
  /** The connection is closed. */
  | { readonly ok: false; readonly reason: 'tls' | 'limit'; readonly error: string };

/**
 * The TLS handshakes in progress on one line (MODBUS/TCP Security V2.1). They need TLS 1.2 or newer and, if
 * there is a CA, a client certificate.
 */
export class TlsHandshakes {
  /** The TLS server. It never listens; connections are passed to it. */
  readonly #server: Server;
  /** The connections with a handshake in progress, the oldest first. */
  readonly #waiting = new Map<Socket, (handshake: Handshake) => void>();

  /**
   * Creates the server.
   * @param credentials a matching set
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
      // OpenSSL's name for the fault of a refused certificate; otherwise null, whatever the type says.
      const fault = (socket.authorizationError as unknown as string | null) ?? undefined;
      this.#settle(socket, { ok: false, reason: 'tls', error: tlsFailure(error, fault) });
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
    // A client that disconnects during the handshake is gone. After the handshake, the TLS socket handles
    // this.
    raw.allowHalfOpen = false;
    this.#server.emit('connection', raw);
  }

  /** Aborts the oldest handshake in progress, to make room. */
  abortOldest(error: string): void {
    const [oldest] = this.#waiting;
    if (oldest === undefined) return;
    const [raw, done] = oldest;
    this.#waiting.delete(raw);
    raw.destroy();
    done({ ok: false, reason: 'limit', error });
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
 * Returns the connection below a TLS socket. Node has no public function for it. A separate TLS server for
 * each connection would not need this, but costs as much as the handshake. The tests of this line fail if the
 * name changes.
 */
function rawOf(socket: TLSSocket): Socket {
  return (socket as unknown as { readonly _parent: Socket })._parent;
}
