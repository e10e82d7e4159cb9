import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, realpathSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { failure, type Result, success } from '../../common/result.js';
import { makeDirectory } from '../../document/make-directory.js';

/*
 * How another process makes a running program read its configuration again, and gets an answer. The request
 * is the line `reload` or `preview` on a socket. A service has the socket in its runtime directory. Other
 * programs have it in a directory of the user, under a name derived from the file's path. The answer is one
 * line of JSON. A signal can't carry an answer, and another process has neither the service's credentials nor
 * the previous content of the file.
 */

/** The result of a reload, in texts for people. */
export interface ReloadAnswer {
  /** The mistakes in the file. If there are any, nothing was changed. */
  readonly mistakes?: readonly string[];
  readonly warnings: readonly string[];
  /** What was changed, such as `line bench`. */
  readonly done: readonly string[];
  /** What was not changed, and why. */
  readonly refused: readonly string[];
  /** What changes at the next restart. A service of an older version may list this in `refused`. */
  readonly atRestart?: readonly string[];
}

/** The warning about a change that takes effect at the next restart. @param what such as `device meter` */
export function laterText(what: string): string {
  return `${what}: takes effect at the next restart`;
}

/** `reload` applies the file; `preview` only says what that would change. */
export type ReloadRequest = 'reload' | 'preview';

const REQUESTS: Readonly<Record<string, ReloadRequest>> = { 'reload\n': 'reload', 'preview\n': 'preview' };

export function socketOfService(directory: string): string {
  return join(directory, 'reload.sock');
}

/**
 * The socket of a program that was not started by a service manager.
 * @param file the configuration, which must exist
 * @param directory the user's own
 */
export function socketOfFile(file: string, directory: string): string {
  const digest = createHash('sha256').update(realpathSync(file)).digest('hex').slice(0, 16);
  return join(directory, `reload-${digest}.sock`);
}
/** Maximum number of clients served at the same time. There is rarely more than one. */
const MAX_CLIENTS = 8;
/** Maximum time for a client to send its request, in ms. After that, the connection is closed. */
const ASK_LIMIT_MS = 5000;
/**
 * Longest answer that a client reads, in bytes. It has room for a file with a mistake on each of many
 * thousands of lines.
 */
const MAX_ANSWER = 4 << 20;
/**
 * Maximum time to wait for the answer, in ms. Lines that change may first have to close their ports. systemd
 * allows 90 s for a reload.
 */
const ANSWER_LIMIT_MS = 80_000;

/**
 * Answers reload requests from root and from the program's user, who owns the socket.
 * @param path of the socket; its directory is created if it is missing
 * @param failed called with a sentence if the socket can't be created
 * @returns a function that closes the socket
 */
export function answerReloads(
  path: string,
  answer: (request: ReloadRequest) => Promise<ReloadAnswer>,
  failed: (problem: string) => void,
): () => void {
  const server = createServer({ allowHalfOpen: true }, (client) => serve(client, answer));
  server.maxConnections = MAX_CLIENTS;
  server.on('error', (error) => failed(`${path}: can't request a reload: ${error.message}`));
  try {
    makeDirectory(dirname(path), 0o755);
    // A process that was killed left its socket behind.
    if (isSocket(path)) rmSync(path);
    server.listen(path);
    // A file of another kind with this name is not ours. `listen` reports an error for it later.
    if (isSocket(path)) chmodSync(path, 0o600);
  } catch (error) {
    failed(`${path}: can't request a reload: ${(error as Error).message}`);
  }
  // An open connection must not keep the program from exiting.
  server.unref();
  return () => server.close();
}

function isSocket(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSocket() ?? false;
}

function serve(client: Socket, answer: (request: ReloadRequest) => Promise<ReloadAnswer>): void {
  let asked = '';
  client.unref();
  client.setEncoding('latin1');
  client.setTimeout(ASK_LIMIT_MS, () => client.destroy());
  // The client may be gone before the answer.
  client.on('error', () => client.destroy());
  client.on('data', (text) => {
    asked += text;
    const request = REQUESTS[asked];
    if (!request && Object.keys(REQUESTS).some((each) => each.startsWith(asked))) return;
    // Stop reading, so that a client can't send a second request or make data pile up.
    client.pause();
    client.removeAllListeners('data');
    client.setTimeout(0);
    if (!request) {
      client.destroy();
      return;
    }
    void answer(request).then((result) => {
      // The limit now applies to a client that does not read its answer.
      client.setTimeout(ASK_LIMIT_MS);
      client.end(`${JSON.stringify(result)}\n`, () => client.destroy());
    });
  });
  client.on('end', () => client.destroy());
}

/**
 * Sends a request to the program that listens on this socket.
 * @returns its answer, or a sentence that says why there is none
 */
export function askForReload(path: string, request: ReloadRequest = 'reload'): Promise<Result<ReloadAnswer>> {
  return new Promise((resolve) => {
    let answer = '';
    const client = connect(path);
    const end = (result: Result<ReloadAnswer>) => {
      client.destroy();
      resolve(result);
    };
    client.setEncoding('utf8');
    client.setTimeout(ANSWER_LIMIT_MS, () => end(failure(`${path}: the program did not answer in time`)));
    client.on('connect', () => client.write(`${request}\n`));
    client.on('data', (text) => {
      answer += text;
      if (answer.length > MAX_ANSWER) end(failure(`${path}: the answer is too long`));
    });
    client.on('end', () => end(parsed(answer) ?? failure(`${path}: the program exited without an answer`)));
    client.on('error', ({ message, ...error }: NodeJS.ErrnoException) =>
      end(failure(`${path}: ${EXPLANATIONS[error.code ?? ''] ?? message}`)),
    );
  });
}

const EXPLANATIONS: Readonly<Record<string, string>> = {
  ENOENT: 'no program listens on this socket; is modbus-sim running?',
  ECONNREFUSED: 'the program that listened on this socket is no longer running',
  EACCES: 'permission denied: only root and the user that runs the program can request a reload',
};

/** Parses an answer; undefined if it is not complete. */
function parsed(answer: string): Result<ReloadAnswer> | undefined {
  try {
    return answer.endsWith('\n') ? success(JSON.parse(answer) as ReloadAnswer) : undefined;
  } catch {
    return undefined;
  }
}
