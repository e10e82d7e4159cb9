import { concatBytes, hex } from '../../modbus/protocol/bytes.js';
import type { TrafficView } from '../../simulator/traffic/view-schema.js';
import { isoTime, micros } from '../../simulator/traffic/words.js';
import { type ServerFindingView, type ServerTestReport, versions } from '../report/report.js';
import { behavesAs } from './behaves-as.js';
import {
  conclusionOf,
  countsOf,
  dataSheet,
  effectOf,
  fateTexts,
  gradeOf,
  nameOf,
  placeText,
  shownAs,
  titleOf,
  violationsOf,
} from './card.js';
import { GROUPS, textOf } from './check.js';
import type { Exchange } from './exchange.js';
import { lostTexts } from './lost.js';
import { type ServerFinding, type ServerTest, verdictOfAll } from './server-test.js';
import { answerText, timeText } from './words.js';

const MOST_SHOWN = 12;

/** Makes the report. @param startedAt when the server test began, in ms since 1970 */
export function serverTestReport(serverTest: ServerTest, startedAt: number): ServerTestReport {
  const { findings, order, durationMs, isReached, carrier } = serverTest;
  const name = nameOf(serverTest) ?? 'the server';
  const offset = startedAt - (findings[0]?.shown?.[0]?.startedAt ?? 0);
  return {
    kind: 'server',
    name,
    startedAt,
    durationMs,
    verdict: isReached || serverTest.isStopped ? shownAs(verdictOfAll(serverTest)).verdict : 'error',
    line: placeText(serverTest),
    seed: order.seed,
    isStopped: serverTest.isStopped,
    conclusions: [
      ...lostTexts(serverTest.lost),
      conclusionOf(serverTest),
      ...fateTexts(serverTest),
      ...violationsOf(serverTest).map((each) => `${textOf(each)}.`),
      ...behavesAs(serverTest).map(
        ({ id, title, sources }) =>
          `It behaves like ${id} of the catalogue: ${title} (${sources.map(({ url }) => url).join(', ')}).`,
      ),
    ],
    parameters: dataSheet(serverTest),
    counts: countsOf(serverTest),
    findings: findings.map((finding) => findingView(finding, offset)),
    configuration: `${JSON.stringify({ devices: { device: { real: carrier.target } } }, null, 2)}\n`,
    versions: versions(),
    json: serverTestSummary(serverTest),
  };
}

function findingView(finding: ServerFinding, offset: number): ServerFindingView {
  const { check, verdict, seen, shown = [], durationMs } = finding;
  const evidence = shown.slice(0, MOST_SHOWN);
  const text = textOf(finding);
  const prefix = verdict === 'unsupported' ? 'not supported: ' : '';
  return {
    id: check.id,
    title: titleOf(finding),
    asked: check.title,
    ...shownAs(verdict),
    code: finding.said.code,
    summary: prefix + text,
    ...(verdict === 'violates' && { conclusion: text }),
    ...(seen && { confidence: { agreeing: seen.times, trials: seen.of } }),
    durationMs,
    about: {
      group: GROUPS[check.group],
      does: check.does,
      matters: effectOf(finding).matters,
      rule: check.rule,
      fix: effectOf(finding).mend,
      source: check.clause,
    },
    get frames() {
      return evidence.flatMap((exchange) => exchangeViews(exchange, offset));
    },
    get exchanges() {
      return evidence.map(exchangeJson);
    },
  };
}

/** The bytes of an exchange as events: sent and received. */
function exchangeViews(
  { number, sent, chunks, startedAt, sentAt, answer, ms }: Exchange,
  offset: number,
): TrafficView[] {
  const bytes = concatBytes(...sent.map((piece) => piece.bytes));
  const common = { line: 'server', direction: 'in' as const };
  const request: TrafficView = {
    ...common,
    seq: 2 * number - 1,
    kind: 'request',
    time: isoTime(sentAt + offset),
    monotonicUs: micros(sentAt),
    startedUs: micros(startedAt),
    text: 'sent by the server test',
    bytes: hex(bytes),
  };
  const [first] = chunks;
  if (!first) return [{ ...request, text: `sent by the server test; the server ${answerText(answer)}` }];
  const at = chunks.at(-1)?.at ?? first.at;
  const after = ms === undefined ? '' : ` after ${timeText(ms)}`;
  const reply: TrafficView = {
    ...common,
    seq: 2 * number,
    kind: 'foreign response',
    time: isoTime(at + offset),
    monotonicUs: micros(at),
    startedUs: micros(first.at),
    text: `the server ${answerText(answer)}${after}`,
    bytes: hex(concatBytes(...chunks.map((chunk) => chunk.bytes))),
  };
  return [request, reply];
}

/** The keys in the JSON of a server test that other runs do not have, without the exchanges. */
function serverTestSummary(serverTest: ServerTest) {
  const { findings, order, requests, facts, times } = serverTest;
  const { functions } = facts;
  return {
    server: { place: placeText(serverTest), unit: order.unitId, identification: facts.vendor },
    verdict: verdictOfAll(serverTest),
    lost: [...serverTest.lost],
    fates: fateTexts(serverTest),
    counts: Object.fromEntries(countsOf(serverTest).map(({ id, many }) => [id, many])),
    requests,
    dataSheet: {
      functions: {
        there: [...functions.there],
        missing: [...functions.missing],
        silent: [...functions.silent],
      },
      most: facts.most,
      lastAddress: facts.lastAddress,
      replyMs: times,
      pauseMs: facts.pauseMs ?? 0,
      connections: facts.connections,
    },
    behavesAs: behavesAs(serverTest).map(({ id, title, sources }) => ({
      ...{ id, title },
      sources: sources.map(({ url }) => url),
    })),
    checks: findings.map((finding) => ({
      id: finding.check.id,
      group: finding.check.group,
      title: titleOf(finding),
      verdict: finding.verdict,
      ...(finding.verdict === 'violates' && { grade: gradeOf(finding) }),
      ...saidJson(finding),
      text: textOf(finding),
      ...(finding.seen && { seen: finding.seen }),
      clause: finding.check.clause,
    })),
  };
}

/** The code and the facts of a finding. */
function saidJson({ said, at }: ServerFinding) {
  const { code, ...facts } = said;
  return { code, facts: { ...at, ...facts } };
}

function exchangeJson({ number, sent, chunks, ms, sentAt }: Exchange) {
  return {
    number,
    sent: sent.map(({ bytes, waitMs = 0 }) => ({ waitMs, bytes: hex(bytes) })),
    received: chunks.map(({ bytes, at }) => ({
      ms: Math.round((at - sentAt) * 100) / 100,
      bytes: hex(bytes),
    })),
    ...(ms !== undefined && { replyMs: Math.round(ms * 100) / 100 }),
  };
}
