import { createHash, timingSafeEqual } from 'node:crypto';

/** What a client may do: `read` looks only, `write` may do everything. */
export type Role = 'read' | 'write';

/** The tokens of the configuration. */
export interface TokenRules {
  /** The token that may do everything. */
  readonly token?: string;
  /** Tokens that may only read. */
  readonly readTokens?: readonly string[];
}

/** Knows the tokens by their digests, which have equal lengths, as a comparison in constant time needs. */
export class Tokens {
  readonly #known: readonly { readonly digest: Buffer; readonly role: Role }[];

  constructor({ token, readTokens = [] }: TokenRules) {
    this.#known = [
      ...(token === undefined ? [] : [{ digest: digest(token), role: 'write' as const }]),
      ...readTokens.map((each) => ({ digest: digest(each), role: 'read' as const })),
    ];
  }

  /** Whether requests need a token. */
  get areNeeded(): boolean {
    return this.#known.length > 0;
  }

  /** The role of a token; undefined for a wrong one. Takes equally long, whatever token is right. */
  roleOf(token: string): Role | undefined {
    const presented = digest(token);
    let role: Role | undefined;
    for (const known of this.#known) if (timingSafeEqual(presented, known.digest)) role = known.role;
    return role;
  }
}

/** The token of an Authorization header; undefined without one. The scheme's case does not count (RFC 9110, 11.1). */
export function bearerToken(header: string): string | undefined {
  return /^bearer +(.+)$/i.exec(header)?.[1];
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
