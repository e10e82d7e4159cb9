import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { readShort } from '../read-short.js';
import type { TlsFiles } from '../settings.js';

export interface TlsCredentials {
  readonly cert: string;
  readonly key: string;
  readonly ca: readonly string[] | undefined;
}

export type ReadTlsCredentials =
  | { readonly ok: true; readonly credentials: TlsCredentials; readonly notes: readonly string[] }
  /** The reason names the file, and says what is wrong with it. */
  | { readonly ok: false; readonly reason: string };

type Read<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly reason: string };

const CERTIFICATES = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;
/** Matches an encrypted key: PKCS 8 and the older form of OpenSSL. */
const ENCRYPTED = /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m;

const READ_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: 'may not be read by this user',
  EISDIR: 'is a directory',
};

/**
 * The largest file that is read, in bytes. A certificate has some KB, and the authorities of a whole system
 * have 200 KB.
 */
const LARGEST_BYTES = 1024 * 1024;

/**
 * Reads the files and checks that they go together. Expiry is only a note, because it may be what a client is
 * tested with.
 */
export async function readTlsCredentials({ cert, key, ca }: TlsFiles): Promise<ReadTlsCredentials> {
  const chain = await readCertificates('certificate', cert);
  if (!chain.ok) return chain;
  const privateKey = await readKey(key);
  if (!privateKey.ok) return privateKey;
  const [own] = chain.value as [X509Certificate, ...X509Certificate[]];
  if (!own.checkPrivateKey(privateKey.value)) {
    return { ok: false, reason: `the key in ${key} does not belong to the first certificate in ${cert}` };
  }
  const authorities = ca === undefined ? undefined : await readCertificates('CA', ca);
  if (authorities?.ok === false) return authorities;
  const credentials = {
    cert: pemOf(chain.value).join(''),
    key: privateKey.value.export({ format: 'pem', type: 'pkcs8' }) as string,
    ca: authorities && pemOf(authorities.value),
  };
  const refusal = refusalOf(credentials);
  if (refusal !== undefined)
    return { ok: false, reason: `the certificate file ${cert} can't be used: ${refusal}` };
  return {
    ok: true,
    credentials,
    notes: [
      ...validityNotes(cert, own),
      ...(authorities?.value ?? []).flatMap((authority) => validityNotes(ca as string, authority)),
    ],
  };
}

/** Returns why OpenSSL refuses the files, for instance because of a key that is too short. */
function refusalOf({ cert, key, ca }: TlsCredentials): string | undefined {
  try {
    createSecureContext({ cert, key, ...(ca && { ca: [...ca] }) });
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

async function readCertificates(what: string, path: string): Promise<Read<X509Certificate[]>> {
  const text = await readPem(what, path);
  if (!text.ok) return text;
  const blocks = text.value.match(CERTIFICATES) ?? [];
  if (blocks.length === 0) {
    return { ok: false, reason: `the ${what} file ${path} has no certificate in it, expected PEM` };
  }
  try {
    return { ok: true, value: blocks.map((block) => new X509Certificate(block)) };
  } catch {
    return { ok: false, reason: `the ${what} file ${path} has a damaged certificate in it` };
  }
}

async function readKey(path: string): Promise<Read<KeyObject>> {
  const text = await readPem('key', path);
  if (!text.ok) return text;
  try {
    return { ok: true, value: createPrivateKey(text.value) };
  } catch {
    const found = ENCRYPTED.test(text.value)
      ? 'is encrypted, expected one without a passphrase'
      : 'has no private key in it, expected PEM';
    return { ok: false, reason: `the key file ${path} ${found}` };
  }
}

async function readPem(what: string, path: string): Promise<Read<string>> {
  try {
    return { ok: true, value: await readShort(path, LARGEST_BYTES) };
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    const reason = READ_ERRORS[code];
    const why = reason === undefined ? `can't be read: ${message}` : `${reason} (${code})`;
    return { ok: false, reason: `the ${what} file ${path} ${why}` };
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
