import { printableLine } from '../../common/rest-client/printable.js';
import { listText } from '../../common/words.js';
import type { Verdict, VerdictCount } from '../report/report.js';
import { behavesAs } from './behaves-as.js';
import { type Grade, type ServerCheck, type ServerVerdict, textOf } from './check.js';
import { EFFECTS } from './codes/effects.js';
import { stoppedText } from './codes/phrases.js';
import { type Code, seenTitle } from './found.js';
import { lostTexts } from './lost.js';
import type { ServerFinding, ServerTest } from './server-test.js';
import { codeText, connectionsText, exchangeText, silenceText, timeText } from './words.js';

/** The grades, worst first, each with its heading. */
const GRADES: readonly (readonly [Grade, string])[] = [
  ['dangerous', 'DANGEROUS'],
  ['met', 'CLIENTS WILL NOTICE'],
  ['seldom', 'WRONG, RARELY NOTICED'],
];

/** The grade of a violation: the grade of its code, or else of its check. */
export function gradeOf({ grade, said, check }: ServerFinding): Grade {
  return grade ?? EFFECTS[said.code]?.grade ?? check.grade;
}

/** The effect of a violation on clients, and the remedy: from its code, or else from its check. */
export function effectOf({ verdict, said, check }: ServerFinding): Pick<ServerCheck, 'matters' | 'mend'> {
  return (verdict === 'violates' ? EFFECTS[said.code] : undefined) ?? check;
}

/** The title of a finding: for a violation, what was seen; otherwise, what the check tests. */
export function titleOf(finding: ServerFinding): string {
  return finding.verdict === 'violates' ? seenTitle(finding.said.code) : finding.check.title;
}

export function violationsOf({ findings }: ServerTest): ServerFinding[] {
  const violations = findings.filter(({ verdict }) => verdict === 'violates');
  return GRADES.flatMap(([grade]) => violations.filter((each) => gradeOf(each) === grade));
}

/** The server's own name, on one line: it may contain line breaks and terminal control sequences. */
export function nameOf({ facts: { vendor } }: Pick<ServerTest, 'facts'>): string | undefined {
  return vendor?.map(printableLine).join(' ');
}

/** The address and settings for reaching the server: `RTU 9600 8N1 /dev/ttyUSB0`. */
export function placeText({ carrier: { target }, order }: Pick<ServerTest, 'carrier' | 'order'>): string {
  if (target.kind === 'tcp') {
    const host = target.host.includes(':') ? `[${target.host}]` : target.host;
    const framing = target.framing === 'socket' ? '' : ` (${target.framing.toUpperCase()} over TCP)`;
    return `unit ${order.unitId} · TCP ${host}:${target.port}${framing}`;
  }
  const { framing, baudRate, dataBits, parity, stopBits, path } = target;
  const settings = `${dataBits}${parity.charAt(0).toUpperCase()}${stopBits}`;
  return `unit ${order.unitId} · ${framing.toUpperCase()} ${baudRate} ${settings} ${path}`;
}

/** Why a check that was requested and permitted did not run. */
const CUT_OFF: readonly Code[] = ['limit-reached', 'gone-since', 'may-silence', 'replies-behind'];

/** What a card leaves undecided, one sentence each. */
function openTexts({ findings }: ServerTest): string[] {
  const checks = (many: number) => (many === 1 ? 'One check' : `${many} checks`);
  const open = findings.filter(({ verdict }) => verdict === 'inconclusive').length;
  const cut = findings.filter(
    ({ verdict, said }) => verdict === 'not-run' && CUT_OFF.includes(said.code),
  ).length;
  return [
    ...(open > 0 ? [`${checks(open)} ${open === 1 ? 'is' : 'are'} not decided.`] : []),
    ...(cut > 0 ? [`${checks(cut)} ${cut === 1 ? 'was' : 'were'} not reached.`] : []),
  ];
}

/**
 * One sentence that says what clients will notice, and further ones on what is undecided, if anything. It
 * counts the entries of the card. If half of the checks or more did not run, it speaks only of those that
 * did.
 */
export function conclusionOf(serverTest: ServerTest): string {
  const { findings, isReached, isStopped, times } = serverTest;
  const ran = findings.filter(({ verdict }) => verdict !== 'not-run').length;
  if (isStopped)
    return `Stopped after ${ran} of ${findings.length} checks: no verdict. Their findings are below.`;
  if (!isReached) {
    const isHeard = serverTest.log.some(({ answer }) => answer.kind === 'exception');
    return `No check could be judged: the server ${isHeard ? 'refused every read of one value that was tried' : 'did not answer'}.`;
  }
  const violations = violationsOf(serverTest);
  const listed = byFault(violations);
  const count = (wanted: Grade) =>
    listed.filter(([first]) => gradeOf(first as ServerFinding) === wanted).length;
  const [bad, met] = [count('dangerous'), count('met')];
  if (bad > 0)
    return 'Not ready for the field: wrong values or commands can get through, or the server can stop.';
  const few = 2 * ran > findings.length ? undefined : ran === 1 ? 'the one check' : `the ${ran} checks`;
  const late = times?.lost ?? 0;
  const again = `${late === 1 ? 'One request was' : `${late} requests were`} answered only when sent again.`;
  const but = [...openTexts(serverTest), ...(late > 0 ? [again] : [])].map((text) => ` ${text}`).join('');
  const among = few === undefined ? '' : `, in ${few} that ran`;
  const deviations = `${met === 1 ? '1 deviation' : `${met} deviations`} that common clients will notice`;
  if (met > 0) return `${deviations}${among}.${but}`;
  if (violations.length > 0) return `Only deviations that few clients will notice${among}.${but}`;
  return `No deviation found in ${few === undefined ? `${ran} checks` : `${few} that ran`}.${but}`;
}

/** What became of the server, as sentences. */
export function fateTexts({ fates }: ServerTest): string[] {
  return fates.map(({ check, ...stopped }) => `The server ${stoppedText(stopped, check)}.`);
}

/** The name of each verdict, for one check and for several, and its equivalent in other reports. */
const VERDICTS: Readonly<Record<ServerVerdict, readonly [one: string, several: string, Verdict]>> = {
  conforms: ['conforms', 'conform', 'pass'],
  violates: ['violates', 'violate', 'fail'],
  inconclusive: ['not decided', 'not decided', 'inconclusive'],
  unsupported: ['not there', 'not there', 'pass'],
  fact: ['informational', 'informational', 'pass'],
  'not-run': ['not run', 'not run', 'not run'],
};

/** The name of a verdict, and its equivalent in other reports. */
export function shownAs(verdict: ServerVerdict): { readonly label: string; readonly verdict: Verdict } {
  const [label, , shown] = VERDICTS[verdict];
  return { label, verdict: shown };
}

/** How many checks have each verdict, without zeros: the same count for the card and all reports. */
export function countsOf({ findings }: ServerTest): VerdictCount[] {
  return Object.entries(VERDICTS).flatMap(([id, [one, several, verdict]]) => {
    const many = findings.filter((each) => each.verdict === id).length;
    return many === 0 ? [] : [{ id, verdict, many, word: many === 1 ? one : several }];
  });
}

const countsText = (serverTest: ServerTest) =>
  countsOf(serverTest)
    .map(({ many, word }) => `${many} ${word}`)
    .join(' · ');

/** Some clients with factory settings time out if replies take longer than this, in ms. */
const SHORT_MS = 250;

/** The functions that a server test tries, and those among them that write, which need scratch addresses. */
const TRIED = [1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 15, 16, 17, 20, 22, 23, 24, 43];
const WRITE_COILS = [5, 15];
const WRITE_REGISTERS = [6, 16, 22, 23];

/** The functions that were not tried. */
function untried({ facts: { functions }, log }: ServerTest): number[] {
  const { there, missing, silent } = functions;
  const asked = new Set([...there, ...missing, ...silent, ...log.map(({ pdu }) => pdu?.[0] ?? 0)]);
  return TRIED.filter((code) => !asked.has(code));
}

/** The functions that were not tried because they write and the user named no scratch range for them. */
function untriedWrites(serverTest: ServerTest): number[] {
  const { scratch } = serverTest.order;
  const lacking = [...(scratch.coils ? [] : WRITE_COILS), ...(scratch.holding ? [] : WRITE_REGISTERS)];
  return untried(serverTest).filter((code) => lacking.includes(code));
}

/** The functions that were not tried, with the option that they need. */
function notTried(serverTest: ServerTest): string[] {
  const without = untriedWrites(serverTest);
  const others = untried(serverTest).filter((code) => !without.includes(code));
  return [
    ...(without.length > 0 ? [`not tried: ${without.join(' ')} (--scratch)`] : []),
    ...(others.length > 0 ? [`not tried: ${others.join(' ')}`] : []),
  ];
}

/** The data sheet: properties of the server, as names with texts. */
export function dataSheet(serverTest: ServerTest): { readonly name: string; readonly value: string }[] {
  const { facts, times, findings, requests } = serverTest;
  const { functions, most, pauseMs, vendor, identificationLevel, connections } = facts;
  const list = (codes: ReadonlySet<number>) => [...codes].sort((a, b) => a - b).join(' ');
  const parts = [
    list(functions.there) || 'none found',
    ...(functions.missing.size > 0 ? [`not there: ${list(functions.missing)}`] : []),
    ...(functions.silent.size > 0 ? [`silent: ${list(functions.silent)}`] : []),
    ...notTried(serverTest),
  ];
  const limits = Object.entries(most).map(
    ([code, many]) => `${many} ${Number(code) <= 2 ? 'bits' : 'registers'} (function ${code})`,
  );
  const isPauseKnown = findings.some(
    ({ check, verdict }) => check.id === 'pause-needed' && verdict !== 'not-run',
  );
  const rows: [string, string | undefined][] = [
    ['functions', parts.join('; ')],
    ['per request', limits.length > 0 ? limits.join(', ') : undefined],
    [
      'answers after',
      times &&
        `${[times.least, times.median, times.p99, times.most].map(timeText).join(' / ')} (least, median, p99, most)`,
    ],
    ['first reply', times?.first === undefined ? undefined : `${timeText(times.first)} after connecting`],
    ['time-out', times && times.most > SHORT_MS ? `longer than ${timeText(times.most)}` : undefined],
    [
      'lost replies',
      times && times.lost > 0
        ? `${times.lost} of ${requests} requests were answered only after a retry`
        : undefined,
    ],
    [
      'pause',
      isPauseKnown
        ? pauseMs === undefined
          ? 'none needed'
          : `${timeText(pauseMs)} between a reply and the next request`
        : undefined,
    ],
    [
      'identification',
      vendor && `${vendor.map(printableLine).join(', ')}; level ${codeText(identificationLevel ?? 0)}`,
    ],
    ['connections', connections && connectionsText(connections)],
  ];
  return rows.flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]));
}

/** The first screen of a server test, for the manufacturer of the server. */
export function cardText(serverTest: ServerTest): string {
  const { requests, durationMs, order, findings, lost } = serverTest;
  const { there } = serverTest.facts.functions;
  const isWithout = !there.has(43) && serverTest.log.some(({ pdu }) => pdu?.[0] === 43);
  const name = nameOf(serverTest) ?? (isWithout ? 'A server without identification' : 'A server');
  const violations = violationsOf(serverTest);
  const listed = byFault(violations);
  const lines = [
    `${name} · ${placeText(serverTest)} · ${timeText(durationMs)}, ${requests} requests · seed ${order.seed}`,
    ...lostTexts(lost),
    '',
    conclusionOf(serverTest),
    countsText(serverTest),
    ...fateTexts(serverTest),
  ];
  for (const [grade, heading] of GRADES) {
    const those = listed.filter((same) => gradeOf(same[0] as ServerFinding) === grade);
    if (those.length === 0) continue;
    lines.push('', heading, ...those.flatMap(violationLines));
  }
  const likes = behavesAs(serverTest);
  if (likes.length > 0)
    lines.push(
      '',
      'BEHAVES LIKE (catalogue entries)',
      ...likes.flatMap(({ id, title, sources }) => [
        `  ${id}: ${title}`,
        ...sources.map(({ url }) => `     ${url}`),
      ]),
    );
  const open = findings.filter(({ verdict }) => verdict === 'inconclusive');
  if (open.length > 0)
    lines.push('', 'NOT DECIDED', ...open.map((each) => `  ${each.check.id}: ${textOf(each)}`));
  lines.push(
    '',
    'FOR THE DATA SHEET',
    ...dataSheet(serverTest).map((row) => `  ${row.name.padEnd(16)}${row.value}`),
  );
  const facts = findings.filter(({ verdict }) => verdict === 'fact');
  lines.push(...facts.map((each) => `  ${each.check.id}: ${textOf(each)}`));
  const notRun = notRunText(findings);
  if (notRun.length > 0) lines.push('', 'NOT RUN', ...notRun);
  return lines.join('\n');
}

/**
 * Groups findings of one fault that was seen with several requests: those with the same code, facts and
 * grade, and all functions that are not answered. The first in each group is the worst, because findings are
 * sorted by grade.
 */
function byFault(findings: readonly ServerFinding[]): ServerFinding[][] {
  const groups = new Map<string, ServerFinding[]>();
  for (const finding of findings) {
    const { said, at } = finding;
    const isSilence = said.code === 'function-not-answered';
    const key = isSilence ? '' : JSON.stringify([gradeOf(finding), said, at]);
    groups.set(key, [...(groups.get(key) ?? []), finding]);
  }
  return [...groups.values()];
}

function violationLines(same: readonly ServerFinding[]): string[] {
  const [worst] = same as readonly [ServerFinding];
  const { check, seen, shown = [] } = worst;
  const often = seen && seen.of > 0 && same.length === 1 ? ` · ${seen.times} of ${seen.of}` : '';
  const [first] = shown.filter(({ sent }) => sent.length > 0);
  const more = same.length - 1;
  const silent = same.flatMap(({ said }) => (said.code === 'function-not-answered' ? said.function : []));
  const others =
    more === 0 || silent.length > 0 ? '' : ` (and ${more} more ${more === 1 ? 'check' : 'checks'})`;
  return [
    `  ${titleOf(worst)}${others}: ${silent.length > 0 ? silenceText(silent) : textOf(worst)}.`,
    `     ${same.map((each) => each.check.id).join(', ')}${often} · ${check.clause}`,
    `     ${check.does}`,
    ...(first ? [`     ${exchangeText(first)}`] : []),
    `     ${effectOf(worst).matters}`,
  ];
}

/** The checks that did not run, by reason. */
function notRunText(findings: readonly ServerFinding[]): string[] {
  const byReason = new Map<string, string[]>();
  for (const finding of findings.filter(({ verdict }) => verdict === 'not-run')) {
    const text = textOf(finding);
    byReason.set(text, [...(byReason.get(text) ?? []), finding.check.id]);
  }
  return [...byReason].map(
    ([reason, ids]) => `  ${reason}: ${ids.length > 4 ? `${ids.length} checks` : listText(ids)}`,
  );
}
