import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, realpathSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { failure, type Result, success } from '../../common/result.js';
import { makeDirectory } from '../../document/make-directory.js';

/*
 * The request to a running program to read its configuration again, and the answer. The request is the line `reload` or
 * `preview` on a socket: of a service in its runtime directory, otherwise in a directory of the user with a name made of
 * the path of the file. The answer is one line of JSON. A signal could not carry an answer, and another process has
 * neither the credentials of the service nor the previous content of the file.
 */

/** The result of a reload, as texts for people. */
export interface ReloadAnswer {
  /** The mistakes in the file, for which nothing was changed. */
  readonly mistakes?: readonly string[];
  readonly warnings: readonly string[];
  /** What was changed, such as `line bench`. */
  readonly done: readonly string[];
  /** What was not changed, and why. */
  readonly refused: readonly string[];
  /** What changes at the next restart. The service may be of a version that says so in `refused`. */
  readonly atRestart?: readonly string[];
}

/** The warning about something that changes at the next restart. @param what such as `device meter` */
export function laterText(what: string): string {
  return `${what}: takes effect at the next restart`;
}

/** What is asked: to apply the file as it is now, or to say what that would change. */
export type ReloadRequest = 'reload' | 'preview';

const REQUESTS: Readonly<Record<string, ReloadRequest>> = { 'reload\n': 'reload', 'preview\n': 'preview' };

export function socketOfService(directory: string): string {
  return join(directory, 'reload.sock');
}

/**
 * The socket of a program that no service manager has started.
 * @param file the configuration, which must exist
 * @param directory of the user's own
 */
export function socketOfFile(file: string, directory: string): string {
  const digest = createHash('sha256').update(realpathSync(file)).digest('hex').slice(0, 16);
  return join(directory, `reload-${digest}.sock`);
}
/** Most clients that are served at the same time. There is rarely more than one. */
const MAX_CLIENTS = 8;
/** Longest time for a client to send its request, in ms; then the connection is closed. */
const ASK_LIMIT_MS = 5000;
/**
 * Longest answer that a client reads, in bytes. A file with a mistake in each of many thousand lines fits.
 */
const MAX_ANSWER = 4 << 20;
/**
 * Longest time to wait for the answer, in ms. Lines that are changed may first have to close their ports.
 * systemd gives a reload 90 s.
 */
const ANSWER_LIMIT_MS = 80_000;

/**
 * Answers requests for a reload from root and from the user of the program, who owns the socket.
 * @param path of the socket; its directory is created when it is missing
 * @param failed called with a sentence when the socket can't be created
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
    // A process that was killed has left its socket behind.
    if (isSocket(path)) rmSync(path);
    server.listen(path);
    // What else has this name is somebody's: `listen` refuses it, later.
    if (isSocket(path)) chmodSync(path, 0o600);
  } catch (error) {
    failed(`${path}: can't request a reload: ${(error as Error).message}`);
  }
  // A client must not keep the program from ending.
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
    // Reading stops here, so that a client can't ask twice or make data pile up.
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
 * Asks the program with this socket.
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

/** Parses an answer; undefined when it is not complete. */
function parsed(answer: string): Result<ReloadAnswer> | undefined {
  try {
    return answer.endsWith('\n') ? success(JSON.parse(answer) as ReloadAnswer) : undefined;
  } catch {
    return undefined;
  }
}
