import { listed } from '../../document/native-file.js';
import { ExceptionCode } from '../../modbus/protocol/function-code.js';
import { type ReadRefusal, refusalOf, type Taken } from './asker.js';
import type { ClonedDevice } from './survey.js';
import type { Range, TableSurvey } from './table-survey.js';

/** Facts about a device that its file can't express, for the user, one sentence each. */
export function remarksOf({ survey, unfinished, replyTime, tested }: ClonedDevice): string[] {
  const { tables, probed, exceptionStatus, moved } = survey;
  return [
    ...(tested?.remarks ?? []),
    ...(unfinished === undefined ? [] : [`not read completely: ${unfinished}`]),
    ...(replyTime ? [`median reply time ${replyTime.median} ms, excluding the time on the wire`] : []),
    ...tables.flatMap(tableRemarks),
    ...(exceptionStatus
      ? [`function 7 returned ${exceptionStatus}; exceptionStatus can name the coils that it reports`]
      : []),
    ...[...probed].map(([code, taken]) => `function ${code}, sent without data: ${takenText(taken)}`),
    ...[...moved].flatMap(([{ table }, values]) =>
      values.size > 0
        ? [`${table}: changed while observed: ${rangesText([...values.keys()].map((each) => [each, each]))}`]
        : [],
    ),
  ];
}

function tableRemarks(survey: TableSurvey): string[] {
  const { table, values, refusals, givenUpAfter, unsupported, block, tooFew, least } = survey;
  if (givenUpAfter !== undefined)
    return [
      `${table}: no answer to ${givenUpAfter} requests, so no more were sent; clone --thorough tries all`,
    ];
  if (unsupported !== undefined) return [`${table}: every request was refused: ${wayText(unsupported)}`];
  const others = [...refusals].filter(([way]) => way !== ExceptionCode.illegalDataAddress);
  return [
    `${table}: ${values.size} found`,
    ...doubtText(survey),
    ...(tooFew === undefined
      ? []
      : [`${table}: reads of fewer than ${least} are refused: ${wayText(tooFew)}`]),
    ...(block.otherwise === undefined ? [] : [`${table}: at most ${block.most} per read`]),
    ...[...survey.wrongQuantities.keys()].flatMap((range) => {
      const [first, last] = range.split('-').map(Number);
      return first !== undefined && last === 0xffff
        ? [`${table}: quantities above ${first} were not tried, and are refused here like ${first}`]
        : [];
    }),
    ...survey.sloppyQuantities.map(
      (each) => `${table}: the device answered a quantity of ${each}; this file refuses it`,
    ),
    // For a table that refuses in one way only, there is a manner.
    ...(refusals.size > 1 ? others : []).map(
      ([way, addresses]) =>
        `${table}: undefined addresses ${addressesText(addresses)}: ${wayText(way)}, but exception 2 in this file`,
    ),
  ];
}

/** Merges unprobed ranges in the remarks if fewer than this many probed addresses separate them. */
const APART = 16;

/** Returns, in numbers, what a search with gaps may have missed. */
function doubtText(survey: TableSurvey): string[] {
  const { table, least, isBits } = survey;
  const doubts = doubtsOf(survey);
  if (doubts.length === 0) return [];
  const sum = (of: (doubt: Doubt) => number) => doubts.reduce((total, doubt) => total + of(doubt), 0);
  const [size, asked] = [sum(({ range: [first, last] }) => last - first + 1), sum((each) => each.asked)];
  const widest = Math.max(...doubts.map(({ gap }) => gap)) + least;
  const what = isBits ? 'a lone bit' : 'a lone register';
  const share = asked === 0 ? 'none' : `1 in ${Math.round(size / asked)}`;
  return [
    `${table}: ${share} of the addresses ${rangesText(doubts.map(({ range }) => range))} ${asked === 0 ? 'were' : 'was'} tried: ${what} there may be missed, but not ${widest} in a row`,
  ];
}

interface Doubt {
  readonly range: Range;
  /** How many of its addresses were probed. */
  readonly asked: number;
  /** Longest run of addresses that were not probed. */
  readonly gap: number;
}

function doubtsOf(survey: TableSurvey): Doubt[] {
  const doubts: { range: [number, number]; asked: number; gap: number }[] = [];
  for (const [first, last] of survey.ranges) {
    let [gap, known] = [0, APART];
    for (let address = first; address <= last; address++) {
      if (survey.isKnown(address)) {
        known++;
        gap = 0;
        continue;
      }
      gap++;
      const before = known < APART || gap > 1 ? doubts.at(-1) : undefined;
      if (before) {
        before.asked += known;
        before.range[1] = address;
        before.gap = Math.max(before.gap, gap);
      } else doubts.push({ range: [address, address], asked: 0, gap });
      known = 0;
    }
  }
  return doubts;
}

function rangesText(ranges: readonly (readonly [number, number])[]): string {
  if (ranges.length === 0) return 'none';
  const merged: [number, number][] = [];
  for (const [first, last] of ranges) {
    const before = merged.at(-1);
    if (before && before[1] + 1 === first) before[1] = last;
    else merged.push([first, last]);
  }
  return listed(merged.map(([first, last]) => (first === last ? first : `${first}-${last}`)));
}

/** Maximum length of a list of addresses, in characters. */
const LONGEST_LIST = 80;

function addressesText(addresses: readonly number[]): string {
  const sorted = addresses.toSorted((a, b) => a - b);
  const text = rangesText(sorted.map((each) => [each, each]));
  const among = `${sorted[0]}-${sorted.at(-1)} (${sorted.length} of those tried)`;
  return text.length > LONGEST_LIST ? among : text;
}

function takenText(taken: Taken): string {
  return taken.kind === 'data' ? `reply of ${taken.pdu.length} bytes` : wayText(refusalOf(taken));
}

function wayText(way: ReadRefusal): string {
  return way === 'silence' ? 'no answer' : `exception ${way}`;
}
