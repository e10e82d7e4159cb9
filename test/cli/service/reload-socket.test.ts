import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  answerReloads,
  askForReload,
  type ReloadAnswer,
  socketOfService,
} from '../../../src/cli/service/reload-socket.js';

const NOTHING: ReloadAnswer = { warnings: [], done: [], refused: [] };

function listen(reload: () => Promise<ReloadAnswer>) {
  const directory = mkdtempSync(join(tmpdir(), 'modbus-sim-reload-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const problems: string[] = [];
  const path = socketOfService(directory);
  const end = answerReloads(path, reload, (problem) => void problems.push(problem));
  onTestFinished(end);
  return { directory, path, problems, end };
}

/** Sends text in these pieces. @returns what came back until the other side closed */
function send(path: string, pieces: readonly (string | Uint8Array)[]): Promise<string> {
  return new Promise((resolve) => {
    let received = '';
    const client = connect(path);
    client.setEncoding('utf8').on('data', (text) => {
      received += text;
    });
    client.on('error', () => {});
    client.on('close', () => resolve(received));
    void (async () => {
      for (const piece of pieces) {
        client.write(piece);
        await new Promise((written) => setTimeout(written, 5));
      }
    })();
  });
}

it('a file in place of the socket is left alone, and named', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'modbus-sim-reload-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'reload.sock');
  writeFileSync(path, 'mine');
  const problems: string[] = [];
  const mode = statSync(path).mode;
  const end = answerReloads(
    path,
    async () => NOTHING,
    (problem) => void problems.push(problem),
  );
  onTestFinished(end);
  await expect.poll(() => problems).toEqual([expect.stringContaining(`${path}: can't request a reload`)]);
  expect(readFileSync(path, 'utf8')).toBe('mine');
  expect(statSync(path).mode).toBe(mode);
});

describe('the socket of a service', () => {
  it.each([
    ['another word', ['status\n']],
    ['the word with more behind it', ['reload\nreload\n']],
    ['a request of HTTP', ['GET / HTTP/1.1\r\n\r\n']],
    ['zeros', [new Uint8Array(100_000)]],
    ['the beginning of the word, then nonsense', ['rel', 'ated\n']],
  ])('hangs up on %s, without reloading and without an answer', async (_, pieces) => {
    let reloads = 0;
    const { path } = listen(async () => {
      reloads++;
      return NOTHING;
    });
    expect(await send(path, pieces)).toBe('');
    expect(reloads).toBe(0);
    expect(await askForReload(path)).toEqual({ ok: true, value: NOTHING });
    expect(reloads).toBe(1);
  });

  it('takes the word in single bytes', async () => {
    const { path } = listen(async () => NOTHING);
    expect(JSON.parse(await send(path, [...'reload\n']))).toEqual(NOTHING);
  });

  it('goes on when who asks is gone before the answer', async () => {
    const answers: (() => void)[] = [];
    const { path } = listen(() => new Promise((resolve) => answers.push(() => resolve(NOTHING))));
    const client = connect(path, () => client.write('reload\n'));
    await expect.poll(() => answers.length).toBe(1);
    client.destroy();
    answers[0]?.();
    const second = askForReload(path);
    await expect.poll(() => answers.length).toBe(2);
    answers[1]?.();
    expect(await second).toEqual({ ok: true, value: NOTHING });
  });

  it('takes the place of one that a killed service has left, and is gone in the end', async () => {
    const first = listen(async () => NOTHING);
    const second = { ...NOTHING, done: ['line bench'] };
    const end = answerReloads(
      first.path,
      async () => second,
      (problem) => first.problems.push(problem),
    );
    expect(await askForReload(first.path)).toEqual({ ok: true, value: second });
    end();
    first.end();
    await expect.poll(() => existsSync(first.path)).toBe(false);
    expect(first.problems).toEqual([]);
  });

  it('that can not be had is a problem in words, and no end of the service', async () => {
    const problems: string[] = [];
    answerReloads(
      '/dev/null/reload.sock',
      async () => NOTHING,
      (problem) => void problems.push(problem),
    );
    await expect
      .poll(() => problems)
      .toContainEqual(expect.stringMatching(/^\/dev\/null\/reload\.sock: can't request a reload: /));
  });
});
