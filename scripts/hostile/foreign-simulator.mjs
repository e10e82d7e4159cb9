import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { dist } from '../../test/support/program.mjs';

/*
 * A program that answers like a simulator, with texts that a terminal would obey, or display as something
 * else (Unicode Technical Report 36, 2.10).
 */

/** @typedef {import('node:http').RequestListener} Answer */
/**
 * Answers, each with texts that the command must print in response: a command that prints nothing proves
 * nothing. @typedef {readonly (readonly [answer: Answer, ...shown: string[]])[]} Answers
 */

const HIDDEN = [
  ...range(0x00, 0x08),
  ...range(0x0b, 0x1f),
  ...range(0x7f, 0x9f),
  ...range(0x200b, 0x200f),
  ...range(0x2028, 0x202e),
  ...range(0x2066, 0x2069),
];

/** A limit for a command that does not end. */
const LIMIT_MS = 60_000;

/** @param {number} from @param {number} to */
function range(from, to) {
  return Array.from({ length: to - from + 1 }, (_, i) => String.fromCodePoint(from + i));
}

/** A text with all of these characters, identified by its name. @param {string} name */
function laden(name) {
  return `<${name}>\u001b]0;owned\u0007\u001b[2J${HIDDEN.join('')}`;
}

/** @param {object | null} body @param {number} [status] @returns {Answer} */
function json(body, status = 200) {
  return (_, response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/**
 * Server-sent events for the first request; then a refusal, which ends the monitor. @param {string} data
 * @returns {Answer}
 */
function stream(data) {
  let asked = 0;
  return (request, response) => {
    if (++asked > 1) return json({ detail: 'enough' }, 400)(request, response);
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`id: 1\ndata: ${data}\n\n`);
  };
}

/** The reason phrase of a status may contain 8-bit control characters (RFC 9112, 4). @type {Answer} */
function refuseByReason(_, response) {
  response.writeHead(400, '<reason>\u009b31m').end();
}

/** An endless body. @param {string} type @returns {Answer} */
function endless(type) {
  const piece = ' '.repeat(1024 * 1024);
  return (_, response) => {
    response.writeHead(200, { 'content-type': type });
    const go = () => {
      while (!response.destroyed && response.write(piece));
    };
    response.on('drain', go);
    go();
  };
}

/** @type {Answers} */
const REFUSALS = [
  [json({ detail: laden('detail') }, 400), '<detail>'],
  [refuseByReason, '<reason>'],
];

const finding = {
  id: laden('id'),
  title: laden('title'),
  verdict: laden('verdict'),
  summary: laden('summary'),
};
const report = {
  name: laden('name'),
  verdict: 'pass',
  conclusions: [laden('conclusion')],
  findings: [finding],
};
const problem = { path: laden('path'), message: laden('message') };
/** Answers for runs. @type {Answers} */
const RUNS = [
  ...REFUSALS,
  [json(null), 'this is not modbus-sim'],
  [json(null, 400), 'HTTP 400'],
  [endless('application/json'), 'the answer is larger than 64 MB'],
  [json({ problems: [problem] }, 400), '<path>', '<message>'],
  [
    json({ id: 1, state: 'over', checks: [finding], report }),
    '<title>',
    '<verdict>',
    '<summary>',
    '<conclusion>',
  ],
];

const event = {
  line: laden('line'),
  kind: laden('event'),
  time: '2026-01-01T00:00:00.000000Z',
  direction: 'none',
  text: laden('text'),
  client: laden('client'),
  faults: [{ rule: laden('rule'), kind: laden('fault'), reason: laden('why') }],
  bytes: laden('bytes'),
};
/** @returns {Answers} */
const streams = () => [
  ...REFUSALS,
  [stream(JSON.stringify([event])), '<line>', '<text>', '<client>', '<rule>', '<fault>', '<why>', '<bytes>'],
  [stream(JSON.stringify([{ kind: 'left out', text: laden('text') }])), '<text>'],
  [stream(laden('no JSON')), 'this is not modbus-sim'],
  [endless('text/event-stream'), 'an event is too long'],
];

/** @param {string} directory */
export function foolTest(directory) {
  const file = join(directory, 'scenario.json');
  writeFileSync(file, JSON.stringify({ steps: [{ wait: 1 }] }));
  return fool(['test', file], RUNS);
}

export const foolTestClient = () => fool(['test-client', 'bus'], RUNS);

export const foolMonitor = () => fool(['monitor', '--hex'], streams());

/** Runs a command once for each answer. @param {readonly string[]} args @param {Answers} answers */
async function fool(args, answers) {
  let printed = 0;
  for (const [answer, ...shown] of answers) {
    const server = createServer(answer).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
    const output = await outputOf([...args, '--url', `http://127.0.0.1:${port}`], shown);
    server.close();
    server.closeAllConnections();
    const readable = JSON.stringify(output);
    for (const text of shown) assert.ok(output.includes(text), `${text} is not in ${readable}`);
    const passed = HIDDEN.filter((character) => output.includes(character)).map((character) =>
      character.charCodeAt(0).toString(16),
    );
    assert.ok(passed.length === 0, `printed ${passed.map((code) => `U+${code}`).join(' ')} in ${readable}`);
    printed += output.length;
  }
  return `${printed} characters printed, none of the ${HIDDEN.length} hidden characters among them`;
}

/**
 * What a command prints on both outputs until it exits. `monitor` never does, and is killed shortly after all
 * expected texts have appeared.
 * @param {readonly string[]} args
 * @param {readonly string[]} shown
 * @returns {Promise<string>}
 */
function outputOf(args, shown) {
  return new Promise((resolve) => {
    const command = [join(dist, 'main.js'), ...args];
    const child = execFile(process.execPath, command, { timeout: LIMIT_MS }, (_, stdout, stderr) =>
      resolve(stdout + stderr),
    );
    let printed = '';
    /** @param {string} text */
    const hear = (text) => {
      printed += text;
      if (args[0] === 'monitor' && shown.every((each) => printed.includes(each)))
        setTimeout(() => child.kill(), 500);
    };
    child.stdout?.on('data', hear);
    child.stderr?.on('data', hear);
  });
}
