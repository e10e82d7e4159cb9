import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Paths of a certificate and its key. */
export interface Identity {
  readonly cert: string;
  readonly key: string;
}

/** Where a certificate of Modbus/TCP Security says its role, and how OpenSSL is told to. */
export const roleExtension = (value: string) => `1.3.6.1.4.1.50316.802.1=${value}`;

/** Certificates of the command `openssl`, in a directory of their own. */
export class Certificates {
  readonly directory = mkdtempSync(join(tmpdir(), 'modbus-tls-'));
  /** The CA that the lines trust. */
  readonly ca = this.selfSigned('ca');

  selfSigned(name: string): Identity {
    const identity = this.#paths(name);
    this.#openssl('req', '-x509', ...this.#newKey(name, identity.key), '-days', '2', '-out', identity.cert);
    return identity;
  }

  /** Signed by `issuer`. `extension` is a line of an OpenSSL extension file. */
  signed(name: string, { issuer = this.ca, extension = '', days = 2 } = {}): Identity {
    const identity = this.#paths(name);
    const request = this.path(`${name}.csr`);
    this.#openssl('req', ...this.#newKey(name, identity.key), '-out', request);
    const by = ['-CA', issuer.cert, '-CAkey', issuer.key, '-CAcreateserial', '-days', String(days)];
    const extensions = this.write(`${name}.ext`, `basicConstraints=CA:FALSE\n${extension}\n`);
    this.#openssl('x509', '-req', '-in', request, ...by, '-extfile', extensions, '-out', identity.cert);
    return identity;
  }

  /** The path of a new file with this text. */
  write(name: string, text: string): string {
    writeFileSync(this.path(name), text);
    return this.path(name);
  }

  copy(from: Identity, to: Identity): void {
    copyFileSync(from.cert, to.cert);
    copyFileSync(from.key, to.key);
  }

  path(name: string): string {
    return join(this.directory, name);
  }

  encryptedKey({ key }: Identity): string {
    const path = this.path('encrypted.key');
    this.#openssl('pkey', '-in', key, '-aes128', '-passout', 'pass:secret', '-out', path);
    return path;
  }

  remove(): void {
    rmSync(this.directory, { recursive: true });
  }

  #paths(name: string): Identity {
    return { cert: this.path(`${name}.pem`), key: this.path(`${name}.key`) };
  }

  #newKey(name: string, key: string): string[] {
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
    return [...curve, '-nodes', '-subj', `/CN=${name}`, '-keyout', key];
  }

  #openssl(...args: string[]): void {
    execFileSync('openssl', args, { stdio: 'pipe' });
  }
}
