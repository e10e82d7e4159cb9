/**
 * Sends a request with `fetch`, to the address of one simulator and with its token.
 * @param path includes the query
 */
export type Send = (path: string, init: RequestInit) => Promise<Response>;

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * Why a simulator refused a request. `path` is the place in the request, such as `serial.baudRate`; `line`
 * and `column` are given for YAML.
 */
export interface RemoteRefusal {
  readonly detail: string;
  /** The code of the reason; undefined if the answer has none. */
  readonly code?: string;
  readonly problems: readonly {
    readonly path: string;
    readonly message: string;
    readonly line?: number;
    readonly column?: number;
  }[];
}

/**
 * A request that did not succeed. `status` is the HTTP status; 0 means that no answer came, and `cause` says
 * why.
 */
export interface Failed {
  readonly ok: false;
  readonly status: number;
  readonly problem: RemoteRefusal;
  readonly cause?: unknown;
}

export type Answer<Value> = { readonly ok: true; readonly value: Value } | Failed;

/**
 * Maximum bytes of an answer that is read as a whole. The program at the address may be any program, and its
 * answer may never end.
 */
const LONGEST_ANSWER = 64 * 1024 * 1024;

/** The status of a request that the simulator can't read: a retry would not help. */
export const BAD_REQUEST = 400;
/** The status of a request that was sensible, but not in the present state, such as a change of a value that is another one by now. */
export const CONFLICT = 409;

/** Returns the failure for a simulator that can't be reached. */
export function unreached(cause: unknown): Failed {
  return {
    ok: false,
    status: 0,
    problem: { detail: 'The simulator could not be reached.', problems: [] },
    cause,
  };
}

/** The error codes of Node for a certificate without a trusted signer. */
const UNKNOWN_SIGNERS: ReadonlySet<unknown> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** Explains why `fetch` got no answer. `fetch` has the system's reason in `cause`. */
export function unreachableReason({ message, cause }: Error): string {
  const { code } = (cause ?? {}) as { readonly code?: unknown };
  if (code === 'ECONNREFUSED') return 'nothing listens there';
  const reason = cause instanceof Error && cause.message !== '' ? cause.message : message;
  if (!UNKNOWN_SIGNERS.has(code)) return reason;
  return `${reason}; to trust another certificate, set NODE_EXTRA_CA_CERTS=FILE`;
}

/**
 * Creates the function that sends requests to the simulator at an address.
 * @param token undefined if REST needs none
 */
export function sendTo(url: string, token: string | undefined): Send {
  const base = url.replace(/\/+$/, '');
  const authorization = token === undefined ? undefined : { authorization: `Bearer ${token}` };
  return (path, { headers, ...init }) =>
    fetch(`${base}${path}`, { ...init, headers: { ...headers, ...authorization } });
}

/**
 * Sends a request whose answer may be something other than JSON. Never rejects; reading the body of the
 * answer may.
 */
export async function open(send: Send, path: string, init: RequestInit): Promise<Answer<Response>> {
  try {
    const response = await send(path, init);
    return response.ok ? { ok: true, value: response } : await refused(response);
  } catch (cause) {
    return unreached(cause);
  }
}

/**
 * Sends a request and reads its answer. Never rejects.
 * @param path with names percent-encoded: see `pathOf`
 * @param body sent as JSON; a blob is sent with its own type
 */
export async function ask<Value>(
  send: Send,
  method: Method,
  path: string,
  body?: object,
): Promise<Answer<Value>> {
  const opened = await open(send, path, { method, ...(body && bodyOf(body)) });
  if (!opened.ok) return opened;
  const { value: response } = opened;
  try {
    return { ok: true, value: (response.status === 204 ? null : await jsonOf(response)) as Value };
  } catch (cause) {
    return unreached(cause);
  }
}

/** Reads the failure from an answer with an error status. */
export async function refused(response: Response): Promise<Failed> {
  const { status, statusText } = response;
  try {
    const { detail, code, problems } = (await jsonOf(response)) as Partial<RemoteRefusal>;
    return {
      ok: false,
      status,
      problem: {
        detail: typeof detail === 'string' ? detail : `HTTP ${status}`,
        ...(typeof code === 'string' && { code }),
        problems: Array.isArray(problems) ? problems.filter(isProblem) : [],
      },
    };
  } catch {
    return { ok: false, status, problem: { detail: `HTTP ${status} ${statusText}`.trim(), problems: [] } };
  }
}

function isProblem(value: unknown): value is RemoteRefusal['problems'][number] {
  if (typeof value !== 'object' || value === null) return false;
  const { path, message } = value as { readonly path?: unknown; readonly message?: unknown };
  return typeof path === 'string' && typeof message === 'string';
}

/** Reads the JSON of an answer. Rejects if the answer is longer than `LONGEST_ANSWER`. */
async function jsonOf(response: Response): Promise<unknown> {
  const decoder = new TextDecoder();
  let text = '';
  let length = 0;
  const reader = response.body?.getReader();
  for (let next = await reader?.read(); reader && next && !next.done; next = await reader.read()) {
    length += next.value.length;
    if (length > LONGEST_ANSWER) {
      await reader.cancel();
      throw new Error(`the answer is larger than ${LONGEST_ANSWER / 1024 / 1024} MB`);
    }
    text += decoder.decode(next.value, { stream: true });
  }
  return JSON.parse(text + decoder.decode());
}

/** Joins names, which may contain any characters, into a path: `pathOf('lines', name, 'start')`. */
export function pathOf(...parts: readonly (string | number)[]): string {
  return parts.map((part) => `/${encodeURIComponent(part)}`).join('');
}

function bodyOf(body: object): Pick<RequestInit, 'body' | 'headers'> {
  if (body instanceof Blob) return { body };
  return { body: JSON.stringify(body, wideNumbers), headers: { 'content-type': 'application/json' } };
}

/**
 * Writes bigints as text, because JSON numbers are exact only up to 2^53. The simulator reads such text as a
 * number.
 */
function wideNumbers(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
